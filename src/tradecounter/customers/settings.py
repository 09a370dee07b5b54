"""A customer's settings: what is stored, and what the API, the pages, the command and files may change of it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.customers.wire import Email, ShortText
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import invalid, require_text
from tradecounter.kit.keys import ExternalId, clean_external_id
from tradecounter.kit.money import rounded
from tradecounter.kit.numbers import PENNY_PLACES, Percent, Pounds, too_exact
from tradecounter.kit.text import LONGEST_NAME, fold, trimmed
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

_LARGEST = {"discount": Decimal(100), "credit_limit": Decimal(1_000_000_000)}

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


def clean_settings(change: CustomerChange, collecting: Callable[[], AbstractContextManager[None]]) -> dict[str, Any]:
    """Return the settings that are stored otherwise than they are given, by name; wrong ones are UNSET.

    `collecting` runs a block and collects the field error of its DomainError.
    """
    cleaned: dict[str, Any] = {}
    for name, clean in _CLEAN.items():
        value = getattr(change, name)
        if value is not UNSET and value is not None:
            cleaned[name] = UNSET
            with collecting():
                cleaned[name] = clean(name, value)
    return cleaned


def _name(field: str, text: str) -> str:
    return require_text(field, text, LONGEST_NAME)


def _email(field: str, text: str) -> str:
    if parse_email(text) is None:
        raise invalid(field, NOT_AN_EMAIL)
    return text


def _amount(field: str, amount: Decimal) -> Decimal:
    most = _LARGEST[field]
    if not amount.is_finite() or not 0 <= amount <= most:
        raise invalid(field, f"must be a number between 0 and {most}, not {amount}")
    if (stored := rounded(amount)) != amount:
        raise invalid(field, too_exact(str(amount), PENNY_PLACES))
    return stored


_CLEAN: Mapping[str, Callable[[str, Any], Any]] = {
    "email_address": _email,
    "first_name": _name,
    "last_name": _name,
    "company": lambda _, text: trimmed(text),
    "accounts_email": _email,
    "discount": _amount,
    "credit_limit": _amount,
    "external_id": lambda _, text: clean_external_id(text),
}
