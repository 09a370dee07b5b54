"""`/return`: what customers send back."""

from dataclasses import dataclass
from typing import Literal

from starlette.responses import Response

from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.edge.pages.operation import page
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
_FILE_HEADINGS = ("number", "order", "customer_id", "customer", "state", "reason", "opened_at", "units", "received")
_LATEST_FIRST = Sort("number", descending=True)


class ReturnTable(TableParameters, frozen=True, kw_only=True):
    """Which returns are shown."""

    state: Literal["open", "received", "closed", "all"] = "open"


@dataclass(frozen=True, slots=True)
class ReturnListPages:
    """The list of returns."""

    desk: PageDesk
    parts: OfficeParts

    @page("/return", "Returns", scope="orders:read", query=ReturnTable)
    async def list_returns(self, call: Call) -> Response:
        wanted = call.query(ReturnTable)
        cursor = read_cursor(wanted.after, int)
        async with self.desk.reading() as tx:
            found = await return_table(
                tx,
                None if wanted.state == "all" else wanted.state,
                wanted.most,
                None if cursor is None else cursor[1],
            )
        if wanted.is_file:
            return csv_file("returns", _FILE_HEADINGS, map(_file_row, found))
        address = self.desk.view(call).at("/return")
        table = Table.of(call, address, _COLUMNS, found, _LATEST_FIRST, lambda row: cursor_text(row.id, row.id))
        links = {state: f"{address}?state={state}" if state != "open" else address for state, _ in _VIEWS}
        views = [(links[state], name) for state, name in _VIEWS]
        return self.desk.show(
            call,
            "returns/list.html",
            table=table,
            views=views,
            here=links[wanted.state],
            state=wanted.state,
            number=return_number,
        )


def _file_row(row: ReturnRow) -> tuple[object, ...]:
    opened = row.opened_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return (
        return_number(row.id), row.order_reference, row.customer_id, row.customer, row.state, row.reason, opened,
        row.units, row.received,
    )  # fmt: skip
