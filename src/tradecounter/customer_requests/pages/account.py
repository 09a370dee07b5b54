"""`/account/order/{reference}/ask/{kind}`: asking to cancel or to return units of an order, or writing about it."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from msgspec import Struct
from starlette.responses import Response

from tradecounter.customer_requests.handle_requests import (
    ACCEPTED,
    ASKS,
    FIELDS,
    MOST_BYTES,
    RequestDetails,
    RequestedUnits,
    askable,
    checked_file,
    open_request,
)
from tradecounter.customer_requests.queries import RequestKind, fetch_file
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.pages.operation import BUYER, form, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.errors import or_not_found
from tradecounter.orders.queries.orders import fetch_own_order, lines_of_order
from tradecounter.parts.account import AccountParts

_ASK = "/account/order/{reference}/ask/{kind}"
_FILE = "/account/order/{reference}/file/{id}"
_MOST_BYTES = len(FIELDS) * MOST_BYTES + 1024 * 1024
_KINDS: Mapping[str, RequestKind] = {kind: kind for kind in ASKS}


class _Asked(RequestDetails):
    """What is asked on the page; `everything` is all units that can be, whatever `items` say."""

    everything: bool = False


class AskPages(Struct, frozen=True):
    """The forms that ask about an order."""

    desk: PageDesk
    parts: AccountParts

    @page(_ASK, "Ask about an order", user_roles=BUYER)
    async def show_form(self, call: Call, filled: Filled) -> Response:
        reference = call.path_text("reference", "order")
        kind = _kind(call)
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
            files=FIELDS,
            accepted=ACCEPTED,
            lines=[(line, most) for line in lines if (most := askable(line, kind))],
        )

    @form(_ASK, "Ask about an order", user_roles=BUYER)
    async def ask(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=_MOST_BYTES, most_files=len(FIELDS))
        reference = call.path_text("reference", "order")
        kind = _kind(call)

        async def work(tx: Transaction, body: _Asked, now: datetime) -> int:
            files = [
                checked_file(name, file.filename or "", await file.read(MOST_BYTES + 1))
                for name, file in submitted.files.items()
            ]
            user = user_of(call)
            if body.everything:
                order = await fetch_own_order(tx, user.customer_id, reference)
                lines = await lines_of_order(tx, order.id)
                body.items = [RequestedUnits(line.id, most) for line in lines if (most := askable(line, kind))]
            return await open_request(tx, user.customer_id, reference, kind, body, now, files, user_id=user.id)

        return await self.desk.change(
            call,
            _Asked,
            work,
            again=lambda filled: self.show_form(call, filled),
            to=f"/account/order/{quote(reference)}",
            done="We have your request. The answer comes by e-mail, and is shown here.",
            submitted=submitted,
        )

    @page(_FILE, "A file of a request", user_roles=BUYER)
    async def show_file(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            order = await fetch_own_order(tx, call.customer_id, call.path_text("reference", "order"))
            file = await fetch_file(tx, call.path_id("id", "file"), order.id)
        return file_response(file.content, file.name, file.media_type)


def _kind(call: Call) -> RequestKind:
    return or_not_found(_KINDS.get(call.path_text("kind", "page")), "page")
