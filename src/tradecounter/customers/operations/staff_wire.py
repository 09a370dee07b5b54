"""The requests and responses of customers in the back office."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.customers.wire import Email, RequiredText, ShortText
from tradecounter.edge.permissions import UserRole
from tradecounter.kit.number_types import Percent, Pounds
from tradecounter.kit.wire import Amount, Moment, Timed

Terms = Annotated[int, Meta(ge=0, le=3650, description="Days from an invoice to its due date.")]
Packing = Literal["own", "plain"]


class CustomerCredit(Struct):
    """A customer's credit."""

    credit_limit: Amount
    total_outstanding: Annotated[Decimal, Meta(description="The unpaid gross of its confirmed orders.")]
    available_credit: Amount
    overdue: Amount
    unallocated: Annotated[Decimal, Meta(description="Money of payments that has paid no invoice yet.")]


class ResellerCustomer(Timed, Struct):
    """A customer with all its settings."""

    id: Annotated[int, Meta(description="The customer's id.")]
    email_address: Annotated[str, Meta(description="The account's address.")]
    first_name: str
    last_name: str
    company: str
    accounts_email: Annotated[str | None, Meta(description="Receives copies of invoices.")]
    trade_account: Annotated[bool, Meta(description="Whether the account is shown expected deliveries.")]
    price_list: Annotated[str | None, Meta(description="Null: the list `default`.")]
    discount: Annotated[Decimal, Meta(description="Per cent off every price but contract prices.")]
    credit_limit: Annotated[Decimal | None, Meta(description="Null: no credit terms.")]
    term_days: int | None
    packing: Packing
    shipping_method: Annotated[int | None, Meta(description="The default for orders that name none.")]
    unique_references: Annotated[bool, Meta(description="Whether a customer reference can be used only once.")]
    order_mails: Annotated[
        bool, Meta(description="Whether the account's address gets the e-mails of orders without a contact.")
    ]
    blocked: bool
    blocked_reason: str | None
    created_at: Moment
    credit: CustomerCredit


class CustomerChange(Struct, omit_defaults=True, kw_only=True):
    """The settings to change; the others stay."""

    email_address: Email | UnsetType = UNSET
    first_name: RequiredText | UnsetType = UNSET
    last_name: RequiredText | UnsetType = UNSET
    company: Annotated[ShortText | None, Meta(description="Null or empty: none.")] | UnsetType = UNSET
    accounts_email: Email | UnsetType | None = UNSET
    trade_account: bool | UnsetType = UNSET
    price_list: ShortText | UnsetType | None = UNSET
    discount: Percent | UnsetType = UNSET
    credit_limit: Pounds | UnsetType | None = UNSET
    term_days: Terms | UnsetType | None = UNSET
    packing: Packing | UnsetType = UNSET
    shipping_method: Annotated[int, Meta(ge=1, le=2**31 - 1)] | UnsetType | None = UNSET
    unique_references: bool | UnsetType = UNSET
    order_mails: bool | UnsetType = UNSET


class CustomerRequest(CustomerChange, omit_defaults=True, kw_only=True):
    """A customer to add; settings that are left out have their defaults."""

    email_address: Email
    first_name: RequiredText
    last_name: RequiredText


class Blocking(Struct):
    """Why a customer is blocked."""

    reason: str


class KeyRequest(Struct):
    """An API key to create."""

    name: Annotated[RequiredText, Meta(description="What the key is for.")]


class CreatedKey(Timed, Struct):
    """A new API key, which is shown only now."""

    id: int
    name: str
    prefix: Annotated[str, Meta(description="The beginning of the key, which identifies it.")]
    key: Annotated[str | None, Meta(description="The key; null in a repeated response.")]
    created_at: Moment


class Key(Timed, Struct):
    """An API key without its secret."""

    id: int
    name: str
    prefix: str
    created_at: Moment
    last_used_at: Moment | None
    disabled_at: Moment | None


class UserRequest(Struct):
    """A user to invite."""

    email: Annotated[Email, Meta(description="The user's address.")]
    role: UserRole


class User(Timed, Struct):
    """A customer's user."""

    id: int
    email: str
    name: str
    role: UserRole
    has_password: Annotated[bool, Meta(description="Whether the invitation was accepted.")]
    created_at: Moment
    disabled_at: Moment | None
