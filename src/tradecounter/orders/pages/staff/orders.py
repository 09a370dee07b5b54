"""`/order`: the orders of all customers, one order with all that happened to it, and the warehouse's papers of it."""

from datetime import datetime
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.approvals.queries import find_approval
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customer_requests.queries import requests_of_order
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import PDF
from tradecounter.edge.rest.responses import file_response
from tradecounter.orders.history import audited_as
from tradecounter.orders.operations.all_orders import OrderTable, all_orders_filter
from tradecounter.orders.pages.staff.steps import reference_of
from tradecounter.orders.queries.all_orders import ORDERS, SORTS, OrderRow, order_table
from tradecounter.orders.queries.find_orders import by_part_of_reference
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.states import AnyOrder, PendingOrder, State
from tradecounter.orders.waiting import Wait, wait_of_pending
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import history_of
from tradecounter.parts.shown import shown_order
from tradecounter.products.find_products import NamedProducts, named_products
from tradecounter.shipments.operations import PackingSlipParameters, packing_slip_file, picking_list_file
from tradecounter.shipments.papers import packing_slip, picking_list, shelves_of
from tradecounter.shipments.queries.fulfilment import find_video

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


class AllOrdersTable(OrderTable, frozen=True, kw_only=True):
    """The filters of the table, as those of `GET /api/order`; the customer may also be named.

    The customer's reference may be a part of it. The status may also be what the start page counts as to dispatch, the
    SKU words that find products.
    """

    state: State | None = None
    customer_id: str | None = None
    external_id: str | None = None


_DISPATCH = "/order/{reference}/dispatch"


class OrderPages(Struct, frozen=True):
    """The list of orders, one order, and its papers as PDF files."""

    desk: PageDesk
    parts: OfficeParts

    async def _choices(self, listing: Listing[AllOrdersTable, OrderRow]) -> dict[str, Any]:
        """Return the choices of the filters, and how the words for a product were read."""
        words = "" if listing.form.errors else text("sku", listing.wanted.sku)
        return {
            "statuses": (_TO_DISPATCH, *STATUSES),
            "states": [(state, label(state)) for state in get_args(State)],
            "products": named_products(await self.parts.views.snapshot(), words) if words else NamedProducts(),
        }

    @table_page(
        "/order",
        "Orders",
        columns=_COLUMNS,
        order=TableOrder(SORTS, _LATEST_FIRST, ORDERS.place_of),
        template="orders/list.html",
        file="orders",
        cells=_CELLS,
        needs=_NEEDS,
        values=_choices,
        scope="orders:read",
    )
    async def list_orders(self, tx: Transaction, wanted: AllOrdersTable, at: RowsToRead) -> list[OrderRow]:
        to_dispatch = wanted.status == _TO_DISPATCH
        others = replace(wanted, sku=None, status=None if to_dispatch else wanted.status)
        found = await all_orders_filter(
            tx, others, wanted.customer_id, wanted.state, external_id=wanted.external_id, in_days=True
        )
        if words := text("sku", wanted.sku):
            views = self.parts.views
            matching = named_products(await views.snapshot(), words)
            if not matching.ids:
                matching = named_products(await views.latest_snapshot(), words)
            found = replace(found, product_ids=list(matching.ids))
        found = await by_part_of_reference(tx, found)
        return await order_table(tx, replace(found, to_dispatch=to_dispatch), **at)

    @page("/order/{reference}", "One order", scope="orders:read")
    async def show_order(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            order = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
            video = await find_video(tx, order.order.id)
            wait = await _wait(tx, order.found, self.desk.clock.now())
            requests = await requests_of_order(tx, order.found.id)
            is_picked_here = "dispatch" in order.steps and self.desk.view(call).may(_DISPATCH)
            shelves = await shelves_of(tx, order.found.id) if is_picked_here else {}
        rank = {line_id: number for number, line_id in enumerate(shelves)}
        return self.desk.show(
            call,
            "orders/order.html",
            shown=order,
            by_place=sorted(order.items, key=lambda line: rank.get(line.item.id, len(rank))),
            video=video,
            requests=requests,
            wait=wait,
            shelves=shelves,
            history=history_of(order.order),
            subject=audited_as(order.found),
        )

    @page("/order/{reference}/picking-list", "The picking list", scope="orders:read")
    async def show_picking_list(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            paper = await picking_list(tx, reference_of(call), self.desk.clock.now())
        return _shown(await picking_list_file(paper))

    @page("/order/{reference}/packing-slip", "A packing slip", scope="orders:read", query=PackingSlipParameters)
    async def show_packing_slip(self, call: Call) -> Response:
        shipment = call.query(PackingSlipParameters).shipment
        async with self.desk.reading() as tx:
            paper = await packing_slip(tx, reference_of(call), self.desk.clock.now(), shipment)
        return _shown(await packing_slip_file(paper, self.parts.letterhead))


async def _wait(tx: Transaction, order: AnyOrder, now: datetime) -> Wait | None:
    """Return what an unconfirmed order waits for."""
    if not isinstance(order, PendingOrder) or order.has_expired(now):
        return None
    approval = await find_approval(tx, order.customer_id, order.confirmation_code, now)
    asked_at = None if approval is None else approval.waiting_since
    room = await fetch_credit_room(tx, order.customer_id)
    return wait_of_pending(order.least_gross, order.expires_at, asked_at, room)


def printable(pdf: bytes, name: str) -> Response:
    """Respond with a PDF file that the browser shows, so that it can be printed at once."""
    return _shown(file_response(pdf, name, PDF))


def _shown(file: Response) -> Response:
    file.headers["Content-Disposition"] = file.headers["Content-Disposition"].replace("attachment", "inline")
    file.headers["Cache-Control"] = "no-store"
    return file
