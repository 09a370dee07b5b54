"""`/token`: the forms that add and revoke service tokens."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.pages.staff.members import ADMINISTRATORS
from tradecounter.access.queries.tokens import TokenRecord, list_tokens
from tradecounter.access.tokens import add_token, revoke_token
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.page_kit.values import moment_text
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.permissions import AREAS, SCOPES
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of
from tradecounter.kit.errors import or_not_found
from tradecounter.parts.back_office import OfficeParts


class TokenForm(Struct):
    """A new token; `expires` is its last day."""

    name: str
    scopes: list[str] = []
    expires: str | None = None


class TokenPages(Struct, frozen=True):
    """Service tokens."""

    desk: PageDesk
    parts: OfficeParts

    @step(
        "/token/new",
        "Add a service token",
        shown=lambda self, call, filled: self._show_new(call, filled),
        to="/staff",
        done="The token is added. It was shown once; revoke it and add another one.",
        reveals=lambda self, call, made: self.desk.show(call, "access/token.html", token=made[0], secret=made[1]),
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def add(self, tx: Transaction, body: TokenForm, now: datetime) -> tuple[TokenRecord, str]:
        return await add_token(tx, body.name, body.scopes, now, end_of("expires", body.expires))

    @step(
        "/token/{id}/revoke",
        "Revoke a service token",
        asks=lambda self, call: self._ask_to_revoke(call),
        to="/staff",
        done=lambda token: f"The token of {token.name} is revoked.",
        roles=ADMINISTRATORS,
        dangerous=True,
    )
    async def revoke(self, tx: Transaction, call: Call, now: datetime) -> TokenRecord:
        return await revoke_token(tx, call.path_id("id", "token"), now)

    async def _show_new(self, call: Call, filled: Filled) -> Response:
        scopes = [(area, [scope for scope in SCOPES if scope.startswith(f"{area}:")]) for area in AREAS]
        return self.desk.show(call, "access/new_token.html", form=filled, scopes=scopes)

    async def _ask_to_revoke(self, call: Call) -> Question:
        token_id = call.path_id("id", "token")
        async with self.desk.reading() as tx:
            found = next((token for token in await list_tokens(tx) if token.id == token_id), None)
        token = or_not_found(found, "token", token_id)
        used = f"was last used {moment_text(token.last_used_at)}" if token.last_used_at else "was never used"
        return Question(
            title=f"Revoke the token of {token.name}",
            text=f"The program with {token.prefix}… cannot call the API any more, at once. The token {used}.",
            button="Revoke it",
            back="/staff",
            back_name="Staff and tokens",
            danger=True,
        )
