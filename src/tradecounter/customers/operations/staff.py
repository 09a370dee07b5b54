"""`/api/customer`: accounts with their keys, users and addresses; blocking, export and erasure."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated

from msgspec import UNSET, Meta, Struct, convert, structs
from starlette.responses import Response

from tradecounter.access.queries.people import list_users
from tradecounter.access.users import UserChange, change_user, invite_user
from tradecounter.billing.queries.invoice_records import overdue_by_customer
from tradecounter.billing.queries.ledger import unallocated_by_customer
from tradecounter.credit.queries import outstanding_by_customer
from tradecounter.customers.address_rules import check_address
from tradecounter.customers.change_account import block_customer, remove_address, save_address, unblock_customer
from tradecounter.customers.operations.changes import (
    change_customer,
    check_account_change,
    create_customer,
    disable_user_of,
    exported_customer,
    make_key,
    scope_of_field,
)
from tradecounter.customers.operations.examples import DESCRIBED
from tradecounter.customers.operations.public import check_address_body
from tradecounter.customers.operations.wire import (
    CreatedKey,
    CustomerCredit,
    CustomerRequest,
    Key,
    ResellerCustomer,
    User,
    UserRequest,
)
from tradecounter.customers.queries.accounts import accounts_after, fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.settings import Account, CustomerChange
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk, SinceParameters, text
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import FILE, ListPage, Subject
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import CONFLICT
from tradecounter.edge.rest.negotiation import ZIP
from tradecounter.edge.session import require_token_scope
from tradecounter.identity.manage_keys import KeyRequest, end_key_of
from tradecounter.identity.queries.api_keys import list_keys
from tradecounter.kit.money import NOTHING
from tradecounter.kit.wire import ReasonRequest
from tradecounter.privacy.personal_data import erase_customer

CUSTOMERS = Subject(tag="Customers", read="customers:read", write="customers:write", described=DESCRIBED)
ALL_CUSTOMERS, ONE_CUSTOMER = "/api/customer", "/api/customer/{id}"
_KEYS, _USERS = f"{ONE_CUSTOMER}/key", f"{ONE_CUSTOMER}/user"

CustomerId = Annotated[int, InPath("id", "The customer's id.", 1001, "customer")]
KeyId = Annotated[int, InPath("key_id", "The key's id.", 7, "key")]
UserId = Annotated[int, InPath("user_id", "The user's id.", 12, "user")]


class CustomerListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/customer`."""

    email_address: Annotated[str | None, Meta(description="Only the customer with this address, in any case.")] = None
    external_id: Annotated[str | None, Meta(description="Only the customer with this external id.")] = None


async def present_customer(tx: Transaction, account: Account, now: datetime) -> ResellerCustomer:
    """Return an account as the back office shows it."""
    [shown] = await present_customers(tx, [account], now)
    return shown


async def present_customers(tx: Transaction, accounts: Sequence[Account], now: datetime) -> list[ResellerCustomer]:
    """Return accounts as the back office shows them, with a fixed number of statements."""
    ids = [account.id for account in accounts]
    outstanding, overdue = await outstanding_by_customer(tx, ids), await overdue_by_customer(tx, ids, now)
    unallocated = await unallocated_by_customer(tx, ids)
    shown = []
    for account in accounts:
        limit, owed = account.credit_limit or NOTHING, outstanding.get(account.id, NOTHING)
        free = unallocated.get(account.id, NOTHING)
        credit = CustomerCredit(
            credit_limit=limit,
            total_outstanding=owed,
            available_credit=limit - owed,
            overdue=overdue.get(account.id, NOTHING),
            unallocated=free,
        )
        shown.append(ResellerCustomer(**structs.asdict(account), credit=credit))
    return shown


def _user(record: CustomerUser) -> User:
    return convert(record, User, from_attributes=True)


class CustomerOperations(Struct, frozen=True):
    """The endpoints of customers; `secret` returns the installation's secret key."""

    desk: Desk
    secret: Callable[[], str]

    @CUSTOMERS.lists(ALL_CUSTOMERS, "The customers.")
    async def list_customers(
        self, tx: Transaction, now: datetime, query: CustomerListParameters
    ) -> ListPage[ResellerCustomer]:
        """All customers."""
        email = text("email_address", query.email_address)
        external_id = text("external_id", query.external_id)
        accounts = await accounts_after(
            tx, query.after, query.limit + 1, email=email, external_id=external_id or None, changed_since=query.since
        )
        return ListPage(accounts, await present_customers(tx, accounts[: query.limit], now))

    @CUSTOMERS.changes("POST", ALL_CUSTOMERS, location="{id}", check=partial(check_account_change, new=True))
    async def create_customer(
        self, tx: Transaction, now: datetime, call: Call, body: CustomerRequest
    ) -> ResellerCustomer:
        """Add a customer.

        The account's address becomes its first owner, who has no password yet. `credit_limit` and `term_days` need the
        scope `billing:write`, all other fields `customers:write`.
        """
        _require_scopes(call, body, "customers:write")
        return await present_customer(tx, await create_customer(tx, body, now), now)

    @CUSTOMERS.shows(ONE_CUSTOMER)
    async def get_customer(self, tx: Transaction, now: datetime, customer_id: CustomerId) -> ResellerCustomer:
        """One customer."""
        return await present_customer(tx, await fetch_account(tx, customer_id), now)

    @CUSTOMERS.changes(
        "PATCH",
        ONE_CUSTOMER,
        check=check_account_change,
        errors=(CONFLICT,),
        other_scopes=("billing:write",),
        roles=("support", "finance", "administrator"),
    )
    async def change_customer(
        self, tx: Transaction, now: datetime, call: Call, customer_id: CustomerId, body: CustomerChange
    ) -> ResellerCustomer:
        """Change a customer.

        Credit terms go together: `credit_limit` and `term_days` are both set or both null. `credit_limit` and
        `term_days` need the scope `billing:write`, all other fields `customers:write`.
        """
        _require_scopes(call, body)
        return await present_customer(tx, await change_customer(tx, customer_id, body, now), now)

    @CUSTOMERS.shows(_KEYS, "The keys, disabled ones included.")
    async def list_keys(self, tx: Transaction, customer_id: CustomerId, query: SinceParameters) -> list[Key]:
        """A customer's API keys.

        The use of a key does not change it.
        """
        account = await fetch_account(tx, customer_id)
        return convert(await list_keys(tx, account.id, query.since), list[Key], from_attributes=True)

    @CUSTOMERS.changes("POST", _KEYS, location="{id}", shown_once="key")
    async def create_key(self, tx: Transaction, now: datetime, customer_id: CustomerId, body: KeyRequest) -> CreatedKey:
        """Create an API key."""
        return await make_key(tx, customer_id, body, now)

    @CUSTOMERS.changes("DELETE", f"{_KEYS}/{{key_id}}", "The key is disabled.")
    async def disable_key(self, tx: Transaction, now: datetime, customer_id: CustomerId, key_id: KeyId) -> None:
        """Disable an API key.

        It ends in every process within five seconds.
        """
        await end_key_of(tx, customer_id, key_id, now)

    @CUSTOMERS.shows(_USERS, "The users, disabled ones included.")
    async def list_users(self, tx: Transaction, customer_id: CustomerId, query: SinceParameters) -> list[User]:
        """A customer's users."""
        account = await fetch_account(tx, customer_id)
        return convert(await list_users(tx, account.id, query.since), list[User], from_attributes=True)

    @CUSTOMERS.changes("POST", _USERS, location="{id}")
    async def invite_user(self, tx: Transaction, now: datetime, customer_id: CustomerId, body: UserRequest) -> User:
        """Invite a user.

        Adds the user, or changes the first role, and sends a link to set the password by e-mail. 409 if the address is
        another customer's user, or if no owner would be left.
        """
        user, _ = await invite_user(tx, customer_id, body.email, body.role, self.secret(), now)
        return _user(user)

    @CUSTOMERS.changes("PATCH", f"{_USERS}/{{user_id}}", errors=(CONFLICT,))
    async def change_user(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, user_id: UserId, body: UserChange
    ) -> User:
        """Change a user's roles, and the limit for one order.

        What is left out stays. An order above `order_limit` waits for an approver; null: no limit. 409 if the user is
        disabled, or if no owner would be left.
        """
        return _user(await change_user(tx, customer_id, user_id, body, now))

    @CUSTOMERS.changes("DELETE", f"{_USERS}/{{user_id}}", "The user is disabled.")
    async def disable_user(self, tx: Transaction, now: datetime, customer_id: CustomerId, user_id: UserId) -> None:
        """Disable a user."""
        await disable_user_of(tx, customer_id, user_id, now)


def _require_scopes(call: Call, body: CustomerChange, *more: str) -> None:
    """Check the scopes that the fields in a body need. Raises DomainError (forbidden)."""
    named = [name for name in body.__struct_fields__ if getattr(body, name) is not UNSET]
    for scope in dict.fromkeys([*more, *map(scope_of_field, named)]):
        require_token_scope(call.request, scope)


_ADDRESSES = f"{ONE_CUSTOMER}/address"

AddressId = Annotated[int, InPath("address_id", "The address's id.", 5003, "address")]


class AddressOperations(Struct, frozen=True):
    """The endpoints of customers' address books."""

    desk: Desk

    @CUSTOMERS.shows(_ADDRESSES, "The active addresses.")
    async def list_addresses(
        self, tx: Transaction, customer_id: CustomerId, query: SinceParameters
    ) -> list[SavedAddress]:
        """A customer's address book.

        Deleted addresses are not listed.
        """
        account = await fetch_account(tx, customer_id)
        return await list_addresses(tx, account.id, query.since)

    @CUSTOMERS.changes("POST", _ADDRESSES, location="{id}", check=check_address_body)
    async def create_address(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, body: AddressDetails
    ) -> SavedAddress:
        """Save an address."""
        check_address(body)
        await fetch_account(tx, customer_id)
        return await save_address(tx, customer_id, body, now)

    @CUSTOMERS.changes("DELETE", f"{_ADDRESSES}/{{address_id}}", "The address is deleted.")
    async def delete_address(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, address_id: AddressId
    ) -> None:
        """Delete an address."""
        await remove_address(tx, customer_id, address_id, now)


class CustomerStepOperations(Struct, frozen=True):
    """The endpoints that block, export and erase customers."""

    desk: Desk

    @CUSTOMERS.changes("POST", f"{ONE_CUSTOMER}/block", scope="billing:write")
    async def block_customer(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, body: ReasonRequest
    ) -> ResellerCustomer:
        """Block a customer.

        Its keys and tokens are rejected within five seconds, and it cannot order; open orders stay.
        """
        return await present_customer(tx, await block_customer(tx, customer_id, body.reason, now), now)

    @CUSTOMERS.changes(
        "DELETE",
        f"{ONE_CUSTOMER}/block",
        "The customer is not blocked any more.",
        errors=(CONFLICT,),
        scope="billing:write",
    )
    async def unblock_customer(self, tx: Transaction, now: datetime, customer_id: CustomerId) -> None:
        """Unblock a customer."""
        await unblock_customer(tx, customer_id, now)

    @CUSTOMERS.shows(f"{ONE_CUSTOMER}/export", "The ZIP file.", files={ZIP: FILE})
    async def export_customer(self, tx: Transaction, customer_id: CustomerId) -> Response:
        """All that is stored of a customer.

        A ZIP file of JSON and PDF files, without secrets.
        """
        return await exported_customer(tx, customer_id)

    @CUSTOMERS.changes("POST", f"{ONE_CUSTOMER}/erase", roles=("administrator",))
    async def erase_customer(self, tx: Transaction, now: datetime, customer_id: CustomerId) -> ResellerCustomer:
        """Erase a customer's personal data.

        Erases all that tax law does not require. It cannot be undone, and fails while something is open or owed.
        """
        await erase_customer(tx, customer_id, now)
        return await present_customer(tx, await fetch_account(tx, customer_id), now)
