"""`/account/developer/sandbox`: the customer's keys of the sandbox, in which programs order without consequences."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.docs_pages.guide import first_line
from tradecounter.edge.pages.operation import DEVELOPERS, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import DEVELOPER_HOME
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, Parameter
from tradecounter.kit.errors import DomainError, Kind, or_not_found
from tradecounter.parts.account import AccountParts
from tradecounter.sandbox.remote_keys import RemoteKey, RemoteSandbox

_LIST = f"{DEVELOPER_HOME}/sandbox"
_ID = (Parameter("id", "The key's id.", ID, 7),)


class SandboxKeyForm(Struct):
    """A key of the sandbox to make."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]


class SandboxKeyPages(Struct, frozen=True):
    """The customer's keys of the sandbox."""

    desk: PageDesk
    parts: AccountParts

    @page(_LIST, "Sandbox", user_roles=DEVELOPERS)
    async def show_keys(self, call: Call) -> Response:
        sandbox = RemoteSandbox.of(self.parts.settings)
        keys: list[RemoteKey] = []
        problem = ""
        if sandbox is not None:
            try:
                keys = await sandbox.keys_of(call.customer_id)
            except DomainError as error:
                problem = error.message
        return self.desk.show(
            call,
            "sandbox/keys.html",
            sandbox=sandbox,
            problem=problem,
            active=[key for key in keys if key.disabled_at is None],
        )

    def _sandbox(self) -> RemoteSandbox:
        return or_not_found(RemoteSandbox.of(self.parts.settings), "sandbox", "of this site")

    async def _make(self, call: Call, body: SandboxKeyForm, form_key: str) -> RemoteKey:
        """Make the key once for each form."""
        return await self._sandbox().make_key(call.customer_id, body.name.strip(), call.actor.name, form_key)

    def _show_new_key(self, call: Call, new: RemoteKey) -> Response:
        key = new.key or ""
        url = self._sandbox().url
        return self.desk.show(call, "sandbox/made_key.html", key=key, url=url, first=first_line(url, key))

    @step(
        f"{_LIST}/key/new",
        "New key of the sandbox",
        template="sandbox/new_key.html",
        to=_LIST,
        done="The key was made already. It is shown only once; if you did not copy it, make another one.",
        before=_make,
        reveals=_show_new_key,
        user_roles=DEVELOPERS,
        dangerous=True,
    )
    async def make(
        self, tx: Transaction, call: Call, body: SandboxKeyForm, prepared: RemoteKey, now: datetime
    ) -> RemoteKey:
        made_key = prepared
        if made_key.key is None:
            raise DomainError(Kind.CONFLICT, _LOST)
        facts = {"id": made_key.id, "name": made_key.name, "prefix": made_key.prefix}
        _audit(tx, "sandbox_key.create", call, facts, now)
        return made_key

    async def _ask_to_disable(self, call: Call) -> Question:
        key_id = call.path_id("id", "key")
        keys = await self._sandbox().keys_of(call.customer_id)
        key = or_not_found(next((key for key in keys if key.id == key_id), None), "key", key_id)
        return Question(
            title=f"Disable {key.name}",
            text=f"Programs that send the key {key.prefix}… to the sandbox are rejected. It cannot be enabled again.",
            button="Disable",
            back=_LIST,
            back_name="Sandbox",
            danger=True,
        )

    @step(
        f"{_LIST}/key/{{id}}/disable",
        "Disable a key of the sandbox",
        asks=_ask_to_disable,
        before=lambda self, call, _body, _key: self._sandbox().disable_key(
            call.customer_id, call.path_id("id", "key"), call.actor.name
        ),
        to=_LIST,
        done="The key is disabled. Programs that send it are rejected within five seconds.",
        user_roles=DEVELOPERS,
        path_parameters=_ID,
    )
    async def disable(self, tx: Transaction, call: Call, now: datetime) -> None:
        _audit(tx, "sandbox_key.disable", call, {"id": call.path_id("id", "key")}, now)


_LOST = "the key was made, but the sandbox's response with it was lost: disable this key and make another one"


def _audit(tx: Transaction, action: str, call: Call, after: dict[str, object], now: datetime) -> None:
    audit(tx, action, f"customer/{call.customer_id}", now, after=after)
