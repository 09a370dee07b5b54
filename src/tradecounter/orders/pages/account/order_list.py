"""`/account/order`: the customer's orders."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.approvals.queries import waiting_since
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.db.sorted_rows import After
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, Sort, Table, csv_of, cursor_text
from tradecounter.edge.pages.listing import listed
from tradecounter.edge.pages.operation import BUYER, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.orders.operations.steps import OrderTable, order_filter
from tradecounter.orders.queries.find_orders import by_part_of_reference
from tradecounter.orders.queries.order_table import ORDERS, SORTS, OrderRow, order_table
from tradecounter.orders.rules import CANCELLED, STATUSES
from tradecounter.orders.waiting import Wait, wait_of_pending, waits_of_rows
from tradecounter.parts.account import AccountParts
from tradecounter.products.find_products import NamedProducts, named_products

_PATHS = {
    "confirmed": "/account/order",
    "pending": "/account/order/unconfirmed",
    "cancelled": "/account/order/cancelled",
}
_CELLS: Cells = {
    "reference": "name",
    "customer_reference": "customer_reference",
    "placed_at": "placed_at",
    "status": "label",
    "gross": "gross",
}
_SORTS = {name: SORTS[name] for name in ("placed", "total")}
_LATEST_FIRST = "-placed"
_OPEN_STATUSES = tuple(status for status in STATUSES if status != CANCELLED)


State = Literal["confirmed", "pending", "cancelled"]
_TABS: tuple[tuple[State, str], ...] = (
    ("confirmed", "Confirmed"),
    ("pending", "Not confirmed yet"),
    ("cancelled", "Cancelled"),
)


class OwnOrderListPages(Struct, frozen=True):
    """The list of orders."""

    desk: PageDesk
    parts: AccountParts

    @page(_PATHS["confirmed"], "Orders", user_roles=BUYER, query=OrderTable)
    async def list_confirmed(self, call: Call) -> Response:
        return await self._list(call, "confirmed")

    @page(_PATHS["pending"], "Orders that are not confirmed", user_roles=BUYER, query=OrderTable)
    async def list_pending(self, call: Call) -> Response:
        return await self._list(call, "pending")

    @page(_PATHS["cancelled"], "Cancelled orders", user_roles=BUYER, query=OrderTable)
    async def list_cancelled(self, call: Call) -> Response:
        return await self._list(call, "cancelled")

    async def _list(self, call: Call, state: State) -> Response:
        products = NamedProducts()

        async def find(wanted: OrderTable, sort: Sort, after: After) -> list[OrderRow]:
            nonlocal products
            ids = None
            if words := text("sku", wanted.sku):
                view = await self.parts.views.last(call.customer_id)
                products = named_products(view.snapshot, words, view.visible)
                ids = list(products.ids)
            async with self.desk.reading() as tx:
                chosen = await order_filter(tx, replace(wanted, sku=None), call.customer_id, state, in_days=True)
                chosen = await by_part_of_reference(tx, replace(chosen, product_ids=ids))
                if state == "pending":
                    chosen = replace(chosen, kind="order")  # quotes have their own page
                return await order_table(tx, chosen, sort.column, wanted.most, descending=sort.descending, after=after)

        listing = await listed(call, OrderTable, _SORTS, _LATEST_FIRST, find)
        if listing.is_file:
            return csv_of(f"orders-{state}", _CELLS, listing.rows)
        waits = await self._waits(call.customer_id, listing.rows, state)
        view = self.desk.view(call)
        table = Table.of(
            call,
            view.at(_PATHS[state]),
            _columns(state),
            listing.rows,
            listing.sort,
            lambda row: cursor_text(*ORDERS.place_of(row, listing.sort.column)),
        )
        return self.desk.show(
            call,
            "orders/list.html",
            form=listing.form,
            table=table,
            products=products,
            statuses=_OPEN_STATUSES,
            waits=waits,
            state=state,
            tabs=[(view.at(_PATHS[each]), name) for each, name in _TABS],
        )

    async def _waits(self, customer_id: int, rows: Sequence[OrderRow], state: State) -> dict[int, Wait]:
        """Return what orders wait for, by internal id."""
        if state == "cancelled" or not rows:
            return {}
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            if state == "confirmed":
                trades = (await self.parts.views.last(customer_id)).trade_account
                return await waits_of_rows(tx, rows, now, sees_deliveries=trades)
            requested_at = await waiting_since(tx, [row.id for row in rows])
            room = await fetch_credit_room(tx, customer_id)
        return {row.id: wait_of_pending(row.gross, None, requested_at.get(row.id), room) for row in rows}


def _columns(state: State) -> tuple[Column, ...]:
    return (
        Column("Order" if state == "confirmed" else "Your reference"),
        Column("Your reference" if state == "confirmed" else "Order"),
        Column("Placed", "placed"),
        Column("Status"),
        Column("Total", "total", numeric=True),
    )
