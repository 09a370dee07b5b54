"""The requests and responses of customers in the back office."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.customers.settings import Account, CustomerChange
from tradecounter.customers.wire import Email
from tradecounter.edge.permissions import KeyScope, UserRole
from tradecounter.kit.wire import Amount, Moment, RequiredText, Timed

KeyScopes = Annotated[list[KeyScope], Meta(description="What the key may do.")]
KeyNetworks = Annotated[list[str], Meta(description="From where it may be used; empty: from anywhere.")]
KeyExpiry = Annotated[Moment | None, Meta(description="Until when it is valid; null: until it is disabled.")]


class CustomerCredit(Struct):
    """A customer's credit."""

    credit_limit: Annotated[Amount, Meta(description="The most that the account may owe, in pounds.")]
    total_outstanding: Annotated[Decimal, Meta(description="The unpaid gross of its confirmed orders.")]
    available_credit: Amount
    overdue: Annotated[Decimal, Meta(description="What is due of invoices past their due date.")]
    unallocated: Annotated[Decimal, Meta(description="Money of payments that has paid no invoice yet.")]


class ResellerCustomer(Account, frozen=True):
    """A customer with all its settings."""

    credit: CustomerCredit


class CustomerRequest(CustomerChange, frozen=True, omit_defaults=True, kw_only=True):
    """A customer to add; settings that are left out have their defaults."""

    email_address: Email
    first_name: RequiredText
    last_name: RequiredText


class CreatedKey(Timed, Struct):
    """A new API key, which is shown only now."""

    id: int
    name: str
    prefix: Annotated[str, Meta(description="The beginning of the key, which identifies it.")]
    key: Annotated[str | None, Meta(description="The key; null in a repeated response.")]
    created_at: Moment
    scopes: KeyScopes
    expires_at: KeyExpiry
    networks: KeyNetworks


class Key(Timed, Struct):
    """An API key without its secret."""

    id: int
    name: str
    prefix: str
    scopes: KeyScopes
    networks: KeyNetworks
    created_at: Moment
    expires_at: KeyExpiry
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
    role: Annotated[UserRole, Meta(description="The first of the roles.")]
    roles: Annotated[list[UserRole], Meta(description="All roles.")]
    order_limit: Annotated[
        Amount | None, Meta(description="The greatest total, with VAT, of an order that needs no approval.")
    ]
    has_password: Annotated[bool, Meta(description="Whether the invitation was accepted.")]
    created_at: Moment
    disabled_at: Moment | None
