"""`/account/developer`: the customer's API keys, how to call the API, and applications that may act for it."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.docs_pages.guide import first_line, samples, set_key
from tradecounter.edge.pages.operation import DEVELOPERS, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import DEVELOPER_HOME
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, TEXT, Parameter
from tradecounter.identity.manage_keys import SCOPE_CHOICES, KeyForm, create_key, end_key_of, named_on_page
from tradecounter.identity.oauth.manage_applications import fetch_access, revoke_given_access
from tradecounter.identity.oauth.queries.access_tokens import access_given
from tradecounter.identity.queries.api_keys import NewKey, fetch_key, list_keys
from tradecounter.kit.errors import named_by
from tradecounter.parts.account import AccountParts
from tradecounter.parts.questions import disable_key_question

_NEW_KEY = f"{DEVELOPER_HOME}/key/new"
_DISABLE_KEY = f"{DEVELOPER_HOME}/key/{{id}}/disable"
_CALL_API = f"{DEVELOPER_HOME}/call"
_KEY_ID = (Parameter("id", "The key's id.", ID, 7),)


class KeyPages(Struct, frozen=True):
    """The customer's API keys."""

    desk: PageDesk
    parts: AccountParts

    @page(DEVELOPER_HOME, "API keys", user_roles=DEVELOPERS)
    async def show_keys(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            keys = await list_keys(tx, call.customer_id)
        return self.desk.show(
            call,
            "identity/keys.html",
            active=[key for key in keys if key.disabled_at is None],
            disabled=[key for key in keys if key.disabled_at is not None],
            base_url=call.base_url,
            now=self.desk.clock.now(),
        )

    def _show_new_key(self, call: Call, new: NewKey) -> Response:
        return self.desk.show(
            call,
            "identity/made_key.html",
            key=new.key,
            first=first_line(call.base_url, new.key),
            keys=set_key(new.key),
            samples=samples(call.base_url, new.key),
        )

    @step(
        _NEW_KEY,
        "New API key",
        template="identity/new_key.html",
        values={"scopes": SCOPE_CHOICES},
        to=DEVELOPER_HOME,
        done="The key was made already. It is shown only once; if you did not copy it, make another one.",
        reveals=_show_new_key,
        user_roles=DEVELOPERS,
        dangerous=True,
    )
    async def make(self, tx: Transaction, call: Call, body: KeyForm, now: datetime) -> NewKey:
        with named_by(named_on_page):
            return await create_key(tx, call.customer_id, body.request, now)

    async def _ask_to_disable(self, tx: Transaction, call: Call) -> Question:
        key = await fetch_key(tx, call.customer_id, call.path_id("id", "key"))
        return disable_key_question(key, DEVELOPER_HOME, "API keys")

    @step(
        _DISABLE_KEY,
        "Disable an API key",
        asks=_ask_to_disable,
        to=DEVELOPER_HOME,
        done=lambda name: f"The key {name} is disabled. Programs that send it are rejected within five seconds.",
        user_roles=DEVELOPERS,
        path_parameters=_KEY_ID,
    )
    async def disable(self, tx: Transaction, call: Call, now: datetime) -> str:
        return (await end_key_of(tx, call.customer_id, call.path_id("id", "key"), now)).name

    @page(_CALL_API, "Call the API", user_roles=DEVELOPERS)
    async def show_samples(self, call: Call) -> Response:
        return self.desk.show(
            call, "identity/call.html", base_url=call.base_url, samples=samples(call.base_url), keys=set_key("…")
        )


_APPLICATIONS = f"{DEVELOPER_HOME}/application"
_REVOKE_APPLICATION = f"{_APPLICATIONS}/{{client_id}}/revoke"
_CLIENT_ID = (Parameter("client_id", "The application's id.", TEXT, "0" * 32),)


class ApplicationPages(Struct, frozen=True):
    """The applications that have access."""

    desk: PageDesk
    parts: AccountParts

    @page(_APPLICATIONS, "Applications with access", user_roles=DEVELOPERS)
    async def list_applications(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            applications = await access_given(tx, call.customer_id, self.desk.clock.now())
        return self.desk.show(call, "identity/applications.html", applications=applications)

    async def _ask_to_revoke(self, tx: Transaction, call: Call, now: datetime) -> Question:
        application = await fetch_access(tx, call.customer_id, _client_id(call), now)
        return Question(
            title=f"Revoke the access of {application.name}",
            text="The application can no longer see your prices and orders, or order for you. Its tokens end within "
            "five seconds. It may ask for your consent again.",
            button="Revoke",
            back=_APPLICATIONS,
            back_name="Applications",
            danger=True,
        )

    @step(
        _REVOKE_APPLICATION,
        "Revoke the access of an application",
        asks=_ask_to_revoke,
        to=_APPLICATIONS,
        done="The access is revoked. The application's tokens end within five seconds.",
        user_roles=DEVELOPERS,
        path_parameters=_CLIENT_ID,
    )
    async def revoke(self, tx: Transaction, call: Call, now: datetime) -> None:
        await revoke_given_access(tx, call.customer_id, _client_id(call), now)


def _client_id(call: Call) -> str:
    return call.path_text("client_id", "application")
