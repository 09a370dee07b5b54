"""`/order`: the orders of all customers."""

from dataclasses import dataclass
from typing import Annotated, get_args

from msgspec import Meta
from starlette.responses import Response

from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.listing import After, listed
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.orders.operations.steps import order_filter
from tradecounter.orders.queries.order_table import SORTS, OrderRow, order_table, sorted_by
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.staff_wire import State
from tradecounter.parts.back_office import OfficeParts

_COLUMNS = (
    Column("Order"),
    Column("Customer", "customer"),
    Column("Their reference"),
    Column("Placed", "placed"),
    Column("Status"),
    Column("Total", "total", numeric=True),
)
_LATEST_FIRST = "-placed"
_FILE_HEADINGS = ("reference", "customer_id", "customer", "customer_reference", "placed_at", "status", "gross")


class OrderTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table, as those of `GET /api/order`."""

    state: State | None = None
    status: str | None = None
    customer_id: Annotated[int, Meta(ge=1)] | None = None
    reference: str | None = None
    customer_reference: str | None = None
    sku: str | None = None
    created_from: str | None = None
    created_to: str | None = None


@dataclass(frozen=True, slots=True)
class OrderListPages:
    """The list of orders."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order", "Orders", scope="orders:read", query=OrderTable)
    async def list_orders(self, call: Call) -> Response:
        async def find(wanted: OrderTable, sort: Sort, after: After) -> list[OrderRow]:
            async with self.desk.reading() as tx:
                chosen = await order_filter(tx, wanted)
                return await order_table(tx, chosen, sort.column, wanted.most, descending=sort.descending, after=after)

        found = await listed(call, OrderTable, SORTS, _LATEST_FIRST, find)
        if found.is_file:
            return csv_file("orders", _FILE_HEADINGS, map(_file_row, found.rows))
        table = Table.of(
            call,
            self.desk.view(call).at("/order"),
            _COLUMNS,
            found.rows,
            found.sort,
            lambda row: cursor_text(sorted_by(row, found.sort.column), row.id),
        )
        return self.desk.show(
            call,
            "orders/list.html",
            form=found.form,
            table=table,
            statuses=STATUSES,
            states=[(state, label(state)) for state in get_args(State)],
        )


def _file_row(row: OrderRow) -> tuple[object, ...]:
    placed = row.placed_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return (row.name, row.customer_id, row.customer, row.customer_reference, placed, row.label, row.gross)
