"""`/order`: the orders of all customers."""

from dataclasses import dataclass
from typing import Annotated, get_args

from msgspec import Meta
from starlette.responses import Response

from tradecounter.backoffice.order_steps import order_filter
from tradecounter.backoffice.order_wire import State
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.queries.order_table import SORTS, OrderRow, order_table, sorted_by
from tradecounter.ordering.rules import STATUSES
from tradecounter.page_kit.forms import Filled, Submitted, query_values
from tradecounter.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.page_kit.values import label
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.operation import page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.rest.call import Call
from tradecounter.rest.statuses import STATUS

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
        filled, wanted, found = Filled(query_values(call.raw_query)), OrderTable(), []
        sort = Sort.of(None, SORTS, _LATEST_FIRST)
        try:
            wanted = call.query(OrderTable)
            sort = Sort.of(wanted.sort, SORTS, _LATEST_FIRST)
            found = await self._found(wanted, sort)
        except DomainError as error:
            if error.kind not in {Kind.INVALID, Kind.NOT_FOUND}:
                raise
            filled = Filled.of(Submitted(filled.values), error, STATUS[error.kind])
        if wanted.is_file and not filled.message and not filled.errors:
            return csv_file("orders", _FILE_HEADINGS, map(_file_row, found))
        address = self.desk.view(call).at("/order")
        table = Table.of(call, address, _COLUMNS, found, sort, lambda row: _cursor(row, sort))
        return self.desk.show(
            call,
            "orders/list.html",
            form=filled,
            table=table,
            statuses=STATUSES,
            states=[(state, label(state)) for state in get_args(State)],
        )

    async def _found(self, wanted: OrderTable, sort: Sort) -> list[OrderRow]:
        after = read_cursor(wanted.after, SORTS[sort.column])
        async with self.desk.reading() as tx:
            chosen = await order_filter(tx, wanted)
            return await order_table(tx, chosen, sort.column, wanted.most, descending=sort.descending, after=after)


def _cursor(row: OrderRow, sort: Sort) -> str:
    return cursor_text(sorted_by(row, sort.column), row.id)


def _file_row(row: OrderRow) -> tuple[object, ...]:
    placed = row.placed_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return (row.name, row.customer_id, row.customer, row.customer_reference, placed, row.label, row.gross)
