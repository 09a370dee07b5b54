"""`/account/developer/application`: the applications that may act for the customer."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import DEVELOPER_HOME, DEVELOPERS
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.identity.oauth.manage_applications import fetch_access, revoke_given_access
from tradecounter.identity.oauth.queries.consents import access_given
from tradecounter.parts.account import AccountParts

_LIST = f"{DEVELOPER_HOME}/application"
_REVOKE = f"{_LIST}/{{client_id}}/revoke"
_CLIENT_ID = (Parameter("client_id", "The application's id.", TEXT, "0" * 32),)


class ApplicationPages(Struct, frozen=True):
    """The applications that have access."""

    desk: PageDesk
    parts: AccountParts

    @page(_LIST, "Applications with access", user_roles=DEVELOPERS)
    async def list_applications(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await access_given(tx, call.customer_id, self.desk.clock.now())
        return self.desk.show(call, "identity/applications.html", applications=found)

    @step(
        _REVOKE,
        "Revoke the access of an application",
        asks=lambda self, call: self._ask_to_revoke(call),
        to=_LIST,
        done="The access is revoked. The application's tokens end within five seconds.",
        user_roles=DEVELOPERS,
        path_parameters=_CLIENT_ID,
    )
    async def revoke(self, tx: Transaction, call: Call, now: datetime) -> None:
        await revoke_given_access(tx, call.customer_id, _client_id(call), now)

    async def _ask_to_revoke(self, call: Call) -> Question:
        async with self.desk.reading() as tx:
            found = await fetch_access(tx, call.customer_id, _client_id(call), self.desk.clock.now())
        return Question(
            title=f"Revoke the access of {found.name}",
            text="The application can no longer see your prices and orders, or order for you. Its tokens end within "
            "five seconds. It may ask for your consent again.",
            button="Revoke",
            back=_LIST,
            back_name="Applications",
            danger=True,
        )


def _client_id(call: Call) -> str:
    return call.path_text("client_id", "application")
