"""`/account/order/{reference}/ask/{kind}`: asking to cancel or to return units of an order, or writing about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.customer_requests.handle_requests import ASKS, RequestDetails, askable, open_request
from tradecounter.customer_requests.queries import RequestKind
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import BUYER, user_of
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import not_found
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.queries.orders import fetch_own_order
from tradecounter.parts.account import AccountParts

_ASK = "/account/order/{reference}/ask/{kind}"
_KINDS: Mapping[str, RequestKind] = {kind: kind for kind in ASKS}


@dataclass(frozen=True, slots=True)
class AskPages:
    """The forms that ask about an order."""

    desk: PageDesk
    parts: AccountParts

    @step(
        _ASK,
        "Ask about an order",
        shown=lambda self, call, filled: self._show(call, filled),
        to="/account/order/{reference}",
        done="We have your request. The answer comes by e-mail, and is shown here.",
        user_roles=BUYER,
    )
    async def ask(self, tx: Transaction, call: Call, body: RequestDetails, now: datetime) -> int:
        reference = call.path_text("reference", "order")
        return await open_request(tx, user_of(call), reference, _kind(call), body, now)

    async def _show(self, call: Call, filled: Filled) -> Response:
        reference, kind = call.path_text("reference", "order"), _kind(call)
        async with self.desk.reading() as tx:
            order = await fetch_own_order(tx, call.customer_id, reference)
            lines = await lines_of_order(tx, order.id)
        return self.desk.show(
            call,
            "customer_requests/ask.html",
            form=filled,
            order=order,
            kind=kind,
            title=ASKS[kind],
            lines=[(line, most) for line in lines if (most := askable(line, kind))],
        )


def _kind(call: Call) -> RequestKind:
    found = _KINDS.get(call.path_text("kind", "page"))
    if found is None:
        raise not_found("page")
    return found
