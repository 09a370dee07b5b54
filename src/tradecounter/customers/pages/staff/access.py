"""A customer's users and API keys: `/customer/{id}/access`, with the forms that invite, make and disable."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.responses import Response

from tradecounter.access.queries.users import list_users
from tradecounter.access.users import invite_user
from tradecounter.customers.operations.changes import disable_key_of, disable_user_of, make_key
from tradecounter.customers.operations.staff_wire import CreatedKey, KeyRequest, UserRequest
from tradecounter.customers.pages.staff.shown import shown_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import NoFields, step
from tradecounter.edge.permissions import USER_ROLES
from tradecounter.edge.rest.call import Call
from tradecounter.identity.installation_secret import secret_key
from tradecounter.identity.queries.api_keys import list_keys
from tradecounter.kit.errors import not_found
from tradecounter.parts.back_office import OfficeParts

_INVITE, _KEY = "/customer/{id}/user/invite", "/customer/{id}/key/new"
_DISABLE_USER, _DISABLE_KEY = "/customer/{id}/user/{user_id}/disable", "/customer/{id}/key/{key_id}/disable"
_SHOWN_ALREADY = "The key was made before, and its text was shown then. Make another one if it is lost."


@dataclass(frozen=True, slots=True)
class CustomerAccessPages:
    """A customer's users and API keys."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}/access", "A customer's users and keys", scope="customers:read")
    async def show_access(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            users, keys = await list_users(tx, shown.id), await list_keys(tx, shown.id)
        return self.desk.show(call, "customers/access.html", shown=shown, users=users, keys=keys)

    @step(
        _INVITE,
        "Invite a user",
        shown=lambda self, call, filled: self._show(call, "customers/invite.html", filled),
        to="/customer/{id}/access",
        done=str,
        scope="customers:write",
        dangerous=True,
    )
    async def invite(self, tx: Transaction, call: Call, body: UserRequest, now: datetime) -> str:
        customer_id = call.path_id("id", "customer")
        secret = secret_key(self.parts.settings)
        user, _ = await invite_user(tx, customer_id, body.email, body.role, secret, now)
        return f"An invitation is on its way to {user.email}."

    @page(_KEY, "Make an API key", scope="customers:write", dangerous=True)
    async def show_new_key(self, call: Call) -> Response:
        return await self._show(call, "customers/new_key.html", Filled())

    @form(_KEY, "Make an API key", scope="customers:write", dangerous=True)
    async def make_key(self, call: Call) -> Response:
        customer_id = call.path_id("id", "customer")
        made: list[CreatedKey] = []  # never stored: a form that is sent again does not show the key

        async def work(tx: Transaction, body: KeyRequest, now: datetime) -> None:
            made.append(await make_key(tx, customer_id, body.name, now))

        taken = await self.desk.change(
            call,
            KeyRequest,
            work,
            again=lambda filled: self._show(call, "customers/new_key.html", filled),
            to=f"/customer/{customer_id}/access",
            done=_SHOWN_ALREADY,
        )
        if not made or taken.status_code >= 400:  # noqa: PLR2004 errors
            return taken
        return await self._show(call, "customers/made_key.html", Filled(), key=made[0])

    @page(_DISABLE_USER, "Disable a user", scope="customers:write")
    async def show_disable_user(self, call: Call) -> Response:
        return await self._show_user(call, Filled())

    @form(_DISABLE_USER, "Disable a user", scope="customers:write")
    async def disable_user(self, call: Call) -> Response:
        customer_id, user_id = call.path_id("id", "customer"), call.path_id("user_id", "user")
        return await self._disable(
            call,
            lambda tx, now: disable_user_of(tx, customer_id, user_id, now),
            self._show_user,
            "The user is disabled.",
        )

    @page(_DISABLE_KEY, "Disable an API key", scope="customers:write")
    async def show_disable_key(self, call: Call) -> Response:
        return await self._show_key(call, Filled())

    @form(_DISABLE_KEY, "Disable an API key", scope="customers:write")
    async def disable_key(self, call: Call) -> Response:
        customer_id, key_id = call.path_id("id", "customer"), call.path_id("key_id", "key")
        return await self._disable(
            call, lambda tx, now: disable_key_of(tx, customer_id, key_id, now), self._show_key, "The key is disabled."
        )

    async def _disable(
        self,
        call: Call,
        work: Callable[[Transaction, datetime], Awaitable[None]],
        show: Callable[[Call, Filled], Awaitable[Response]],
        done: str,
    ) -> Response:
        async def disable(tx: Transaction, _: NoFields, now: datetime) -> None:
            await work(tx, now)

        return await self.desk.change(
            call,
            NoFields,
            disable,
            again=lambda filled: show(call, filled),
            to=f"/customer/{call.path_id('id', 'customer')}/access",
            done=done,
        )

    async def _show_user(self, call: Call, filled: Filled) -> Response:
        user_id = call.path_id("user_id", "user")
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            user = next((user for user in await list_users(tx, shown.id) if user.id == user_id), None)
        if user is None:
            raise not_found("user", user_id)
        return self.desk.show(call, "customers/disable_user.html", form=filled, shown=shown, user=user)

    async def _show_key(self, call: Call, filled: Filled) -> Response:
        key_id = call.path_id("key_id", "key")
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            key = next((key for key in await list_keys(tx, shown.id) if key.id == key_id), None)
        if key is None:
            raise not_found("key", key_id)
        return self.desk.show(call, "customers/disable_key.html", form=filled, shown=shown, key=key)

    async def _show(self, call: Call, template: str, filled: Filled, **values: Any) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
        return self.desk.show(call, template, form=filled, shown=shown, user_roles=USER_ROLES, **values)
