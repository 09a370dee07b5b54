"""`/account/developer`: the customer's API keys, and how to call the API with them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.access.permissions import UserRole
from tradecounter.db.transaction import Transaction
from tradecounter.identity.manage_keys import create_key, end_key_of, the_key
from tradecounter.identity.queries.api_keys import NewKey, list_keys
from tradecounter.page_kit.forms import Filled
from tradecounter.pages.account.developers.samples import first_line, samples, set_key
from tradecounter.pages.account.parts import AccountParts
from tradecounter.pages.operation import form, page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.rest.call import Call
from tradecounter.rest.operation import ID, Parameter

HOME = "/account/developer"
DEVELOPERS: tuple[UserRole, ...] = ("developer",)

_NEW, _DISABLE, _CALL = f"{HOME}/key/new", f"{HOME}/key/{{id}}/disable", f"{HOME}/call"
_ID = (Parameter("id", "The key's id.", ID, 7),)


class KeyForm(Struct):
    """A key to make."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]


class NoFields(Struct):
    """A form without fields."""


@dataclass(frozen=True, slots=True)
class KeyPages:
    """The customer's API keys."""

    desk: PageDesk
    parts: AccountParts

    @page(HOME, "API keys", user_roles=DEVELOPERS)
    async def show_keys(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await list_keys(tx, call.customer_id)
        return self.desk.show(
            call,
            "developers/keys.html",
            active=[key for key in found if key.disabled_at is None],
            disabled=[key for key in found if key.disabled_at is not None],
            base_url=call.base_url,
        )

    @page(_NEW, "New API key", user_roles=DEVELOPERS, dangerous=True)
    async def show_new(self, call: Call) -> Response:
        return await self._new(call, Filled())

    @form(_NEW, "New API key", user_roles=DEVELOPERS, dangerous=True)
    async def make(self, call: Call) -> Response:
        async def work(tx: Transaction, body: KeyForm, now: datetime) -> NewKey:
            return await create_key(tx, call.customer_id, body.name, now)

        return await self.desk.reveal(
            call,
            KeyForm,
            work,
            again=lambda filled: self._new(call, filled),
            show=lambda new: self._made(call, new.key),
            to=HOME,
            repeated="The key was made already. It is shown only once; if you did not copy it, make another one.",
        )

    @page(_DISABLE, "Disable an API key", user_roles=DEVELOPERS, path_parameters=_ID)
    async def show_disable(self, call: Call) -> Response:
        return await self._disable(call, Filled())

    @form(_DISABLE, "Disable an API key", user_roles=DEVELOPERS, path_parameters=_ID)
    async def disable(self, call: Call) -> Response:
        async def work(tx: Transaction, _: NoFields, now: datetime) -> str:
            return (await end_key_of(tx, call.customer_id, call.path_id("id", "key"), now)).name

        return await self.desk.change(
            call,
            NoFields,
            work,
            again=lambda filled: self._disable(call, filled),
            to=HOME,
            done=lambda name: f"The key {name} is disabled. Programs that send it are rejected within five seconds.",
        )

    @page(_CALL, "How to call the API", user_roles=DEVELOPERS)
    async def show_samples(self, call: Call) -> Response:
        return self.desk.show(
            call, "developers/call.html", base_url=call.base_url, samples=samples(call.base_url), keys=set_key("…")
        )

    async def _new(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "developers/new_key.html", form=filled)

    def _made(self, call: Call, key: str) -> Response:
        return self.desk.show(
            call,
            "developers/made_key.html",
            key=key,
            first=first_line(call.base_url, key),
            keys=set_key(key),
            samples=samples(call.base_url, key),
        )

    async def _disable(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            key = await the_key(tx, call.customer_id, call.path_id("id", "key"))
        return self.desk.show(call, "developers/disable_key.html", form=filled, key=key)
