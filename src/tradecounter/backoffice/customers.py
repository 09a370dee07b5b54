"""`/api/customer`: accounts with their keys and users."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta
from starlette.responses import Response

from tradecounter.access.permissions import scope_of_field
from tradecounter.access.queries.users import CustomerUser, list_users
from tradecounter.access.users import invite_user
from tradecounter.backoffice import examples
from tradecounter.backoffice.customer_changes import (
    account_change,
    check_account_change,
    disable_key_of,
    disable_user_of,
    make_key,
)
from tradecounter.backoffice.customer_wire import (
    CreatedKey,
    CustomerChange,
    CustomerCredit,
    CustomerRequest,
    Key,
    KeyRequest,
    ResellerCustomer,
    User,
    UserRequest,
)
from tradecounter.backoffice.desk import CHANGE_HEADERS, LOCATION, NEXT, POST_HEADERS, Desk, PageParameters, page, text
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.gate import require_scope
from tradecounter.billing.queries.ledger import unallocated_by_customer
from tradecounter.billing.queries.lookup import overdue_by_customer
from tradecounter.credit.queries import outstanding_by_customer
from tradecounter.customers.change_account import change_customer, create_customer
from tradecounter.customers.queries.accounts import (
    Account,
    accounts_after,
    the_account,
)
from tradecounter.db.transaction import Transaction
from tradecounter.identity.queries.api_keys import KeyRecord, list_keys
from tradecounter.kit.money import NOTHING
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import ID, Body, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import json_response

CUSTOMER_ID = Parameter("id", "The customer's id.", ID, 1001)
NEW = (LOCATION, IDEMPOTENT_REPLAY)
_TERMS = " `credit_limit` and `term_days` need the scope `billing:write`, all other fields `customers:write`."


class CustomerListParameters(PageParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/customer`."""

    email_address: Annotated[str | None, Meta(description="Only the customer with this address, in any case.")] = None


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
        credit = CustomerCredit(limit, owed, limit - owed, overdue.get(account.id, NOTHING), free)
        shown.append(ResellerCustomer(**asdict(account), credit=credit))
    return shown


def _key(record: KeyRecord) -> Key:
    return Key(**{name: value for name, value in asdict(record).items() if name != "customer_id"})


def _user(record: CustomerUser) -> User:
    return User(**{name: value for name, value in asdict(record).items() if name != "customer_id"})


@dataclass(frozen=True, slots=True)
class CustomerDesk:
    """The endpoints of customers; `secret` returns the installation's secret key."""

    desk: Desk
    secret: Callable[[], str]

    @endpoint(
        Operation(
            method="GET",
            path="/api/customer",
            name="listCustomers",
            tag="Customers",
            summary="All customers",
            query=CustomerListParameters,
            success=Success(
                200, "The customers.", list[ResellerCustomer], {"List": [examples.CUSTOMER]}, headers=(NEXT,)
            ),
            scope="customers:read",
        )
    )
    async def list_customers(self, call: Call) -> Response:
        wanted = call.query(CustomerListParameters)
        email = text("email_address", wanted.email_address)
        async with self.desk.reading() as tx:
            found = await accounts_after(tx, wanted.after, wanted.limit + 1, email)
            shown = await present_customers(tx, found[: wanted.limit], self.desk.clock.now())
        return page(call, found, wanted.limit, lambda account: account.id, shown)

    @endpoint(
        Operation(
            method="POST",
            path="/api/customer",
            name="createCustomer",
            tag="Customers",
            summary="Add a customer",
            description="The account's address becomes its first owner, who has no password yet." + _TERMS,
            request_headers=POST_HEADERS,
            body=Body(CustomerRequest, {"CustomerRequest": examples.NEW_CUSTOMER}),
            success=Success(
                201,
                "The customer.",
                ResellerCustomer,
                {"Customer": examples.CUSTOMER},
                headers=NEW,
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="customers:write",
        )
    )
    async def create_customer(self, call: Call) -> Response:
        async def work(tx: Transaction, body: CustomerRequest, now: datetime) -> ResellerCustomer:
            _require_scopes(call, body, "customers:write")
            change = await account_change(tx, body, new=True)
            return await present_customer(tx, await create_customer(tx, change, now), now)

        async def check(tx: Transaction, raw: bytes, _now: datetime) -> None:
            await check_account_change(tx, raw, new=True)

        location = "/api/customer/{id}"
        return await self.desk.change(call, CustomerRequest, work, status=201, location=location, check=check)

    @endpoint(
        Operation(
            method="GET",
            path="/api/customer/{id}",
            name="getCustomer",
            tag="Customers",
            summary="One customer",
            path_parameters=(CUSTOMER_ID,),
            success=Success(200, "The customer.", ResellerCustomer, {"Customer": examples.CUSTOMER}),
            errors=(NOT_FOUND,),
            scope="customers:read",
        )
    )
    async def show_customer(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            account = await the_account(tx, call.path_id("id", "customer"))
            return json_response(await present_customer(tx, account, self.desk.clock.now()))

    @endpoint(
        Operation(
            method="PATCH",
            path="/api/customer/{id}",
            name="changeCustomer",
            tag="Customers",
            summary="Change a customer",
            description="Credit terms go together: `credit_limit` and `term_days` are both set or both null." + _TERMS,
            path_parameters=(CUSTOMER_ID,),
            request_headers=CHANGE_HEADERS,
            body=Body(CustomerChange, {"CustomerChange": examples.CUSTOMER_CHANGE}),
            success=Success(200, "The customer.", ResellerCustomer, {"Customer": examples.CUSTOMER}),
            errors=(NOT_FOUND, CONFLICT),
            scope="customers:write",
            other_scopes=("billing:write",),
            roles=("support", "finance", "administrator"),
        )
    )
    async def change_customer(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")

        async def work(tx: Transaction, body: CustomerChange, now: datetime) -> ResellerCustomer:
            _require_scopes(call, body)
            change = await account_change(tx, body)
            return await present_customer(tx, await change_customer(tx, customer_id, change, now), now)

        async def check(tx: Transaction, raw: bytes, _now: datetime) -> None:
            await check_account_change(tx, raw)

        return await self.desk.change(call, CustomerChange, work, check=check)

    @endpoint(
        Operation(
            method="GET",
            path="/api/customer/{id}/key",
            name="listKeys",
            tag="Customers",
            summary="A customer's API keys",
            path_parameters=(CUSTOMER_ID,),
            success=Success(200, "The keys, disabled ones included.", list[Key], {"List": [examples.KEY]}),
            errors=(NOT_FOUND,),
            scope="customers:read",
        )
    )
    async def list_keys(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            account = await the_account(tx, call.path_id("id", "customer"))
            return json_response([_key(key) for key in await list_keys(tx, account.id)])

    @endpoint(
        Operation(
            method="POST",
            path="/api/customer/{id}/key",
            name="createKey",
            tag="Customers",
            summary="Create an API key",
            path_parameters=(CUSTOMER_ID,),
            request_headers=POST_HEADERS,
            body=Body(KeyRequest, {"KeyRequest": examples.NEW_KEY}),
            success=Success(
                201, "The key, which is shown only now.", CreatedKey, {"CreatedKey": examples.CREATED_KEY}, headers=NEW
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="customers:write",
        )
    )
    async def create_key(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")

        async def work(tx: Transaction, body: KeyRequest, now: datetime) -> CreatedKey:
            return await make_key(tx, customer_id, body.name, now)

        location = f"/api/customer/{customer_id}/key/{{id}}"
        return await self.desk.change(call, KeyRequest, work, status=201, location=location, secret="key")  # noqa: S106 a field

    @endpoint(
        Operation(
            method="DELETE",
            path="/api/customer/{id}/key/{key_id}",
            name="disableKey",
            tag="Customers",
            summary="Disable an API key",
            description="It ends in every process within five seconds.",
            path_parameters=(CUSTOMER_ID, Parameter("key_id", "The key's id.", ID, 7)),
            request_headers=CHANGE_HEADERS,
            success=Success(204, "The key is disabled."),
            errors=(NOT_FOUND,),
            scope="customers:write",
        )
    )
    async def disable_key(self, call: Call) -> Response:
        customer_id, key_id = call.path_id("id", "customer"), call.path_id("key_id", "key")

        async def work(tx: Transaction, now: datetime) -> None:
            await disable_key_of(tx, customer_id, key_id, now)

        return await self.desk.delete(call, work)

    @endpoint(
        Operation(
            method="GET",
            path="/api/customer/{id}/user",
            name="listUsers",
            tag="Customers",
            summary="A customer's users",
            path_parameters=(CUSTOMER_ID,),
            success=Success(200, "The users, disabled ones included.", list[User], {"List": [examples.USER]}),
            errors=(NOT_FOUND,),
            scope="customers:read",
        )
    )
    async def list_users(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            account = await the_account(tx, call.path_id("id", "customer"))
            return json_response([_user(user) for user in await list_users(tx, account.id)])

    @endpoint(
        Operation(
            method="POST",
            path="/api/customer/{id}/user",
            name="inviteUser",
            tag="Customers",
            summary="Invite a user",
            description="Adds the user, or changes the role, and sends a link to set the password by e-mail.",
            path_parameters=(CUSTOMER_ID,),
            request_headers=POST_HEADERS,
            body=Body(UserRequest, {"UserRequest": examples.NEW_USER}),
            success=Success(201, "The user.", User, {"User": examples.USER}, headers=NEW),
            errors=(NOT_FOUND, CONFLICT),
            scope="customers:write",
        )
    )
    async def invite_user(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")

        async def work(tx: Transaction, body: UserRequest, now: datetime) -> User:
            user, _ = await invite_user(tx, customer_id, body.email, body.role, self.secret(), now)
            return _user(user)

        location = f"/api/customer/{customer_id}/user/{{id}}"
        return await self.desk.change(call, UserRequest, work, status=201, location=location)

    @endpoint(
        Operation(
            method="DELETE",
            path="/api/customer/{id}/user/{user_id}",
            name="disableUser",
            tag="Customers",
            summary="Disable a user",
            path_parameters=(CUSTOMER_ID, Parameter("user_id", "The user's id.", ID, 12)),
            request_headers=CHANGE_HEADERS,
            success=Success(204, "The user is disabled."),
            errors=(NOT_FOUND,),
            scope="customers:write",
        )
    )
    async def disable_user(self, call: Call) -> Response:
        customer_id, user_id = call.path_id("id", "customer"), call.path_id("user_id", "user")

        async def work(tx: Transaction, now: datetime) -> None:
            await disable_user_of(tx, customer_id, user_id, now)

        return await self.desk.delete(call, work)


def _require_scopes(call: Call, body: CustomerChange, *more: str) -> None:
    """Check the scopes that the fields in a body need. Raises DomainError (forbidden)."""
    named = [name for name in body.__struct_fields__ if getattr(body, name) is not UNSET]
    for scope in dict.fromkeys([*more, *map(scope_of_field, named)]):
        require_scope(call.request, scope)
