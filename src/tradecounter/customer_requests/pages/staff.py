"""`/request`: what customers ask about their orders, and the answers."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.customer_requests.handle_requests import RequestAnswer, close_request, fetch_request
from tradecounter.customer_requests.queries import CustomerRequest, fetch_file, request_table
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page, views_of
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import action
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import file_response
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import shown_as

PATH = "/request"
_ONE = f"{PATH}/{{id}}"
_COLUMNS = (
    Column("Request"),
    Column("Order"),
    Column("Customer"),
    Column("Text"),
    Column("Opened"),
    Column("State"),
)
_VIEWS = (("open", "Open"), ("closed", "Closed"), ("all", "All"))
_CELLS: Cells = {
    "id": "id",
    "kind": "kind",
    "order_reference": "order_reference",
    "customer_id": "customer_id",
    "customer": "customer",
    "user": "asked_by",
    "text": "text",
    "opened_at": "opened_at",
    "state": "state",
    "answer": "answer",
}


class RequestTable(TableParameters, frozen=True, kw_only=True):
    """Which requests are shown."""

    state: Literal["open", "closed", "all"] = "open"


class RequestPages(Struct, frozen=True):
    """Requests about orders."""

    desk: PageDesk
    parts: OfficeParts

    async def _views(self, call: Call, listing: Listing[RequestTable, CustomerRequest]) -> dict[str, Any]:
        return views_of(self.desk.view(call).here, "state", _VIEWS, listing.wanted.state)

    @table_page(
        PATH,
        "Requests",
        columns=_COLUMNS,
        order=TableOrder({"id": int}, "-id", lambda row, _: (row.id, row.id)),
        template="customer_requests/list.html",
        file="requests",
        cells=_CELLS,
        values=_views,
        scope="orders:read",
    )
    async def list_requests(self, tx: Transaction, wanted: RequestTable, at: RowsToRead) -> list[CustomerRequest]:
        state = None if wanted.state == "all" else wanted.state
        return await request_table(tx, state, wanted.most, None if at["after"] is None else at["after"][1])

    @page(_ONE, "One request", scope="orders:read")
    async def show_request(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            request = await fetch_request(tx, call.path_id("id", "request"))
            order = await fetch_order(tx, request.order_reference)
            shown = await shown_as(tx, self.parts.orders, order, self.desk.clock.now())
        return self.desk.show(call, "customer_requests/request.html", form=filled, request=request, shown=shown)

    @page(f"{PATH}/file/{{id}}", "A file of a request", scope="orders:read")
    async def show_file(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            file = await fetch_file(tx, call.path_id("id", "file"))
        return file_response(file.content, file.name, file.media_type)

    @action(
        f"{_ONE}/answer",
        "Answer a request",
        shown=show_request,
        to=PATH,
        done="The request is closed, and the answer sent.",
        scope="orders:write",
    )
    async def answer(self, tx: Transaction, call: Call, body: RequestAnswer, now: datetime) -> None:
        await close_request(tx, call.path_id("id", "request"), body.text, now)
