"""A customer's settings: what is stored, and what the API, the pages, the command and files may change of it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.customers.wire import Email, ShortText
from tradecounter.kit.keys import ExternalId
from tradecounter.kit.numbers import Percent, Pounds
from tradecounter.kit.text import fold
from tradecounter.kit.wire import Moment, RequiredText, Timed

TradeAccount = Annotated[bool, Meta(description="Whether the account is shown expected deliveries.")]
PriceList = Annotated[ShortText | None, Meta(description="Null: the list `default`.")]
Discount = Annotated[Percent, Meta(description="Per cent off all prices except contract prices.")]
CreditLimit = Annotated[Pounds | None, Meta(description="Null: no credit terms.")]
Terms = Annotated[int, Meta(ge=0, le=3650, description="Days from an invoice to its due date.")]
Packing = Annotated[Literal["own", "plain"], Meta(description="The packing: `own` (own brand) or `plain`.")]
ShippingMethod = Annotated[int, Meta(ge=1, le=2**31 - 1, description="The default shipping method of orders.")]
UniqueReferences = Annotated[bool, Meta(description="Whether a customer reference can be used only once.")]
OrderMails = Annotated[
    bool, Meta(description="Whether the account's address gets the e-mails of orders without a contact.")
]


class Account(Timed, Struct, frozen=True):
    """A customer with all its settings."""

    id: Annotated[int, Meta(description="The customer's id.")]
    email_address: Annotated[str, Meta(description="The login address.")]
    first_name: str
    last_name: str
    company: str
    accounts_email: Annotated[str | None, Meta(description="Receives copies of invoices.")]
    trade_account: TradeAccount
    price_list: PriceList
    discount: Discount
    credit_limit: CreditLimit
    term_days: Terms | None
    packing: Packing
    shipping_method: ShippingMethod | None
    unique_references: UniqueReferences
    order_mails: OrderMails
    blocked: bool
    blocked_reason: str | None
    created_at: Moment
    external_id: Annotated[str | None, Meta(description="Its id in another of your programs.")]

    @property
    def name(self) -> str:
        """The company, or the contact person of an account without a company."""
        return self.company or f"{self.first_name} {self.last_name}"

    @property
    def billing_email(self) -> str:
        """The address of e-mails about the account's money."""
        return self.accounts_email or self.email_address


class CustomerChange(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The settings to change; the others stay."""

    email_address: Annotated[Email, Meta(description="The login address.")] | UnsetType = UNSET
    first_name: Annotated[RequiredText, Meta(description="The contact person's first name.")] | UnsetType = UNSET
    last_name: Annotated[RequiredText, Meta(description="The contact person's last name.")] | UnsetType = UNSET
    company: Annotated[ShortText | None, Meta(description="Null or empty: none.")] | UnsetType = UNSET
    accounts_email: Annotated[Email | None, Meta(description="Receives copies of invoices.")] | UnsetType = UNSET
    trade_account: TradeAccount | UnsetType = UNSET
    price_list: PriceList | UnsetType = UNSET
    discount: Discount | UnsetType = UNSET
    credit_limit: CreditLimit | UnsetType = UNSET
    term_days: Terms | UnsetType | None = UNSET
    packing: Packing | UnsetType = UNSET
    shipping_method: ShippingMethod | UnsetType | None = UNSET
    unique_references: UniqueReferences | UnsetType = UNSET
    order_mails: OrderMails | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET

    def columns(self) -> dict[str, Any]:
        """Return the columns to write with their values."""
        columns = {name: value for name in SETTINGS if (value := getattr(self, name)) is not UNSET}
        if "email_address" in columns:
            columns["email_key"] = fold(columns["email_address"])
        if "company" in columns:
            columns["company"] = columns["company"] or ""
        return columns


SETTINGS = CustomerChange.__struct_fields__

LARGEST = {"discount": Decimal(100), "credit_limit": Decimal(1_000_000_000)}
EMAIL_FIELDS = ("email_address", "accounts_email")

# Of a new customer, where a setting may not be null.
DEFAULTS: Mapping[str, Any] = {
    "company": "",
    "trade_account": False,
    "discount": 0,
    "packing": "own",
    "unique_references": False,
    "order_mails": True,
}

# In the back office's interface document.
EXAMPLE = Account(
    id=1001,
    email_address="buyer@harbourline.example",
    first_name="Ada",
    last_name="Buyer",
    company="Harbourline Communications",
    accounts_email="accounts@harbourline.example",
    trade_account=True,
    price_list="gold",
    discount=Decimal("2.50"),
    credit_limit=Decimal("5000.00"),
    term_days=30,
    packing="own",
    shipping_method=101,
    unique_references=False,
    order_mails=True,
    blocked=False,
    blocked_reason=None,
    created_at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
    external_id="ERP-20417",
)
