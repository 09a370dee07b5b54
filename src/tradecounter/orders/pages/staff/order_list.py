"""`/order`: the orders of all customers."""

from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, Order, TableParameters
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.listing import At, Listed, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.orders.operations.steps import order_filter
from tradecounter.orders.queries.find_orders import by_part_of_reference
from tradecounter.orders.queries.order_table import SORTS, OrderRow, order_table, sorted_by
from tradecounter.orders.reseller_wire import State
from tradecounter.orders.rules import STATUSES
from tradecounter.parts.back_office import OfficeParts
from tradecounter.products.find_products import NamedProducts, named_products

_COLUMNS = (
    Column("Order"),
    Column("Customer", "customer"),
    Column("Their reference"),
    Column("Placed", "placed"),
    Column("Status"),
    Column("Total", "total", numeric=True),
)
_NEEDS = dict.fromkeys(("Total", "gross"), "prices:read")  # the warehouse sees no amounts
_TO_DISPATCH = "To dispatch"  # orders of several statuses
_LATEST_FIRST = "-placed"
_CELLS: Cells = {
    "reference": "name",
    "customer_id": "customer_id",
    "customer": "customer",
    "customer_reference": "customer_reference",
    "placed_at": "placed_at",
    "status": "label",
    "gross": "gross",
}


class OrderTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table, as those of `GET /api/order`; the customer may also be named.

    The customer's reference may be a part of it. The status may also be what the start page counts as to dispatch, the
    SKU words that find products.
    """

    state: State | None = None
    status: str | None = None
    customer_id: str | None = None
    reference: str | None = None
    customer_reference: str | None = None
    external_id: str | None = None
    sku: str | None = None
    created_from: str | None = None
    created_to: str | None = None


class OrderListPages(Struct, frozen=True):
    """The list of orders."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/order",
        "Orders",
        columns=_COLUMNS,
        order=Order(SORTS, _LATEST_FIRST, lambda row, column: (sorted_by(row, column), row.id)),
        template="orders/list.html",
        file="orders",
        cells=_CELLS,
        needs=_NEEDS,
        shown=lambda self, _, found: self._shown(found),
        scope="orders:read",
    )
    async def list_orders(self, tx: Transaction, wanted: OrderTable, at: At) -> list[OrderRow]:
        to_dispatch = wanted.status == _TO_DISPATCH
        others = replace(wanted, sku=None, status=None if to_dispatch else wanted.status)
        found = await order_filter(
            tx, others, wanted.customer_id, wanted.state, external_id=wanted.external_id, in_days=True
        )
        if words := text("sku", wanted.sku):
            views = self.parts.views
            named = named_products(await views.snapshot(), words)
            if not named.ids:
                named = named_products(await views.latest_snapshot(), words)
            found = replace(found, product_ids=named.ids)
        found = await by_part_of_reference(tx, found)
        return await order_table(tx, replace(found, to_dispatch=to_dispatch), **at)

    async def _shown(self, found: Listed[OrderTable, OrderRow]) -> dict[str, Any]:
        """Return the choices of the filters, and how the words for a product were read."""
        words = "" if found.form.errors else text("sku", found.wanted.sku)
        return {
            "statuses": (_TO_DISPATCH, *STATUSES),
            "states": [(state, label(state)) for state in get_args(State)],
            "products": named_products(await self.parts.views.snapshot(), words) if words else NamedProducts(),
        }
