"""`/return`: what customers send back."""

from typing import Any, Literal

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Cells, Column, Order, TableParameters
from tradecounter.edge.pages.listing import At, table_page, views_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.returns.queries.returns import ReturnRow, return_table
from tradecounter.returns.wire import return_number

_VIEWS = (("open", "Expected"), ("received", "To credit"), ("closed", "Closed"), ("all", "All"))
_COLUMNS = (
    Column("Return"),
    Column("Order"),
    Column("Customer"),
    Column("Reason"),
    Column("Opened"),
    Column("Units back", numeric=True),
    Column("State"),
)
_CELLS: Cells = {
    "number": lambda row: return_number(row.id),
    "order": "order_reference",
    "customer_id": "customer_id",
    "customer": "customer",
    "state": "state",
    "reason": "reason",
    "opened_at": "opened_at",
    "units": "units",
    "received": "received",
}


class ReturnTable(TableParameters, frozen=True, kw_only=True):
    """Which returns are shown."""

    state: Literal["open", "received", "closed", "all"] = "open"


class ReturnListPages(Struct, frozen=True):
    """The list of returns."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/return",
        "Returns",
        columns=_COLUMNS,
        order=Order({"number": int}, "-number", lambda row, _: (row.id, row.id)),
        template="returns/list.html",
        file="returns",
        cells=_CELLS,
        shown=lambda self, call, found: self._views(call, found.wanted.state),
        scope="orders:read",
    )
    async def list_returns(self, tx: Transaction, wanted: ReturnTable, at: At) -> list[ReturnRow]:
        state = None if wanted.state == "all" else wanted.state
        return await return_table(tx, state, wanted.most, None if at["after"] is None else at["after"][1])

    async def _views(self, call: Call, chosen: str) -> dict[str, Any]:
        views = views_of(self.desk.view(call).here, "state", _VIEWS, chosen)
        return {**views, "state": chosen, "number": return_number}
