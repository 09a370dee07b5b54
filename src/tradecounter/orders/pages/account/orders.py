"""`/account/order`: the customer's orders, and one order with all that happened to it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.approvals.queries import waiting_since
from tradecounter.audit.queries import actor_of_entry
from tradecounter.billing.queries.invoice_records import InvoiceFilter, InvoiceRecord, list_invoices
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.credit_notes.queries import CreditNoteFilter, CreditNoteRecord, list_credit_notes
from tradecounter.customer_requests.handle_requests import ASKS, can_ask
from tradecounter.customer_requests.queries import CustomerRequest, RequestKind, requests_of_order
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.sorted_rows import After
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, Sort, Table, csv_of, cursor_text
from tradecounter.edge.pages.listing import listed
from tradecounter.edge.pages.operation import BUYER, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.clock import day_on_pages, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import plural
from tradecounter.orders.fulfilled import Fulfilled, Shipped, carrier_of
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.operations.all_orders import OrderTable, all_orders_filter
from tradecounter.orders.present import expected_dispatch
from tradecounter.orders.queries.all_orders import ORDERS, SORTS, OrderRow, order_table
from tradecounter.orders.queries.changes import OrderChange, changes_of_order
from tradecounter.orders.queries.find_orders import by_part_of_reference
from tradecounter.orders.queries.notes import OrderNote, own_notes_of
from tradecounter.orders.queries.orders import fetch_own_order_by_name, lines_of_order
from tradecounter.orders.rules import CANCELLED, STATUSES
from tradecounter.orders.states import CancelledOrder, ConfirmedOrder
from tradecounter.orders.waiting import Wait, open_lines_of, wait_of_pending, waits_of_orders, waits_of_rows
from tradecounter.orders.wire import ProductSerialNumber
from tradecounter.parts.account import AccountParts
from tradecounter.products.find_products import NamedProducts, named_products
from tradecounter.shipments.queries.fulfilment import OrderFulfilment, find_video
from tradecounter.shipments.wire import OrderVideoResponse

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
                chosen = await all_orders_filter(tx, replace(wanted, sku=None), call.customer_id, state, in_days=True)
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


_ASKED_IN_WORDS = {"cancel": "You asked to cancel", "return": "You asked to return", "message": "You wrote to us"}


class TimelineEntry(Struct, frozen=True):
    """Something that happened; `more` are the words of whoever did it."""

    at: datetime
    sentence: str
    more: str = ""


def _of_shipment(order: ConfirmedOrder | CancelledOrder, shipment: Shipped) -> Iterator[TimelineEntry]:
    units, carrier = sum(shipment.units.values()), carrier_of(order, shipment)
    by = f" with {carrier}" if carrier else ""
    tracked = f", tracking number {shipment.tracking_number}" if shipment.tracking_number else ""
    yield TimelineEntry(shipment.dispatched_at, f"{plural(units, 'unit')} left{by}{tracked}.")
    for event in shipment.events:
        place = f" in {event.locality}" if event.locality else ""
        yield TimelineEntry(event.at, f"The parcel: {event.type}{place}.", event.description or "")


def _of_change(change: OrderChange) -> TimelineEntry:
    cancelled = plural(change.units, "unit was cancelled", "units were cancelled")
    sentence = f"{cancelled}." if change.kind == "cancelled" else "The order was changed."
    return TimelineEntry(change.changed_at, sentence, change.reason)


def _of_request(request: CustomerRequest) -> Iterator[TimelineEntry]:
    units = sum(item["quantity"] for item in request.items)
    yield TimelineEntry(
        request.opened_at, f"{_ASKED_IN_WORDS[request.kind]}{' ' + plural(units, 'unit') if units else ''}."
    )
    if request.closed_at is not None:
        yield TimelineEntry(request.closed_at, "We answered.")


_MOST_FILES = 100


class OwnOrder(Struct, frozen=True):
    """A customer's order with all that belongs to it. `expected` is when the rest leaves.

    `notes` are the customer's own. `confirmed_by` is the user who confirmed the order, None for a program or the
    reseller. `waits` has the reason why units have not left, by line id.
    """

    order: ConfirmedOrder | CancelledOrder
    lines: list[OrderLine]
    fulfilled: Fulfilled
    expected: datetime | None
    invoices: list[InvoiceRecord]
    credit_notes: list[CreditNoteRecord]
    video: OrderVideoResponse | None
    requests: list[CustomerRequest]
    notes: list[OrderNote]
    confirmed_by: str | None
    waits: Mapping[int, Wait]
    changes: list[OrderChange]

    @property
    def asks(self) -> list[tuple[RequestKind, str]]:
        """What the user can ask about the order: the kinds of request, with the words of their buttons."""
        return [(kind, title) for kind, title in ASKS.items() if can_ask(self.order, self.lines, kind)]

    @property
    def timeline(self) -> list[TimelineEntry]:
        """The events in the life of the order, the oldest first."""
        order = self.order
        happened = [TimelineEntry(order.confirmed_at, f"{self.confirmed_by or 'Your company'} placed the order.")]
        for shipment in self.fulfilled.shipments:
            happened += _of_shipment(order, shipment)
        for invoice in self.invoices:
            due = day_on_pages(uk_date(invoice.due_at))
            sentence = f"We sent invoice {invoice.number} for {in_pounds(invoice.gross)}, due on {due}."
            happened.append(TimelineEntry(invoice.issued_at, sentence))
        for note in self.credit_notes:
            sentence = f"We sent credit note {note.number} for {in_pounds(note.gross)}."
            happened.append(TimelineEntry(note.issued_at, sentence))
        for request in self.requests:
            happened += _of_request(request)
        happened += map(_of_change, self.changes)
        if order.expected_changed_at is not None:
            happened.append(TimelineEntry(order.expected_changed_at, "We told you of a new date for the rest."))
        if isinstance(order, CancelledOrder):
            happened.append(TimelineEntry(order.cancelled_at, "The order was cancelled.", order.cancel_reason))
        return sorted(happened, key=lambda each: each.at)

    @property
    def is_cancelled(self) -> bool:
        """Whether nothing of the order will come."""
        return self.order.status == CANCELLED

    @property
    def to_come(self) -> int:
        """Units that are not dispatched yet."""
        return 0 if self.is_cancelled else sum(line.to_come for line in self.lines)

    @property
    def dispatched(self) -> int:
        """Units that were dispatched."""
        return sum(line.dispatched for line in self.lines)

    @property
    def net(self) -> Decimal:
        """Items and shipping without VAT."""
        return self.order.cost_net + self.order.shipping_net

    @property
    def vat(self) -> Decimal:
        """The VAT of items and shipping."""
        return self.order.cost_tax + self.order.shipping_tax

    def serial_numbers(self, line: OrderLine) -> list[ProductSerialNumber]:
        """Return the units of a line, and of its components, that were dispatched with serial numbers."""
        numbers_of_line = self.fulfilled.serial_numbers
        return [number for part in (line, *line.components) for number in numbers_of_line.get(part.id, ())]

    def sku_of(self, line_id: int) -> str:
        """Return the SKU of a line."""
        return next((line.sku for line in self.lines if line.id == line_id), str(line_id))


async def shown_order(
    tx: Transaction,
    order: ConfirmedOrder | CancelledOrder,
    fulfilment: OrderFulfilment,
    now: datetime,
    *,
    sees_deliveries: bool,
) -> OwnOrder:
    """Return an order with all that its page shows, with a fixed number of statements."""
    lines = await lines_of_order(tx, order.id)
    fulfilled = (await fulfilment.of_orders(tx, [order.id]))[order.id]
    expected = None if order.status == CANCELLED else expected_dispatch(order, lines, now)
    open_lines = [] if order.status == CANCELLED else open_lines_of(lines)
    waits = {}
    if open_lines:
        of_order = {order.id: open_lines}
        waits = await waits_of_orders(tx, of_order, {order.id: expected}, now, sees_deliveries=sees_deliveries)
    confirmed = await actor_of_entry(tx, f"order/{order.name}", ("order.confirm",))
    return OwnOrder(
        order=order,
        lines=lines,
        fulfilled=fulfilled,
        expected=expected,
        invoices=await list_invoices(tx, InvoiceFilter(order_id=order.id), _MOST_FILES),
        credit_notes=await list_credit_notes(tx, CreditNoteFilter(order_id=order.id), _MOST_FILES),
        video=await find_video(tx, order.id),
        requests=await requests_of_order(tx, order.id),
        notes=await own_notes_of(tx, order.id),
        confirmed_by=None if confirmed is None else confirmed.user,
        waits=waits.get(order.id, {}),
        changes=await changes_of_order(tx, order.id),
    )


class OwnOrderPages(Struct, frozen=True):
    """The page of an order. An order that is not confirmed yet, or a quote, has a page of its own."""

    desk: PageDesk
    parts: AccountParts

    @page("/account/order/{reference}", "One order", user_roles=BUYER)
    async def show_order(self, call: Call) -> Response:
        reference = call.path_text("reference", "order")
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_name(tx, call.customer_id, reference)
            if not isinstance(order, ConfirmedOrder | CancelledOrder):
                kind = "quote" if order.kind == "quote" else "new-order"
                return self.desk.go(call, f"/account/{kind}/{order.confirmation_code}")
            account = await fetch_account(tx, call.customer_id)
            shown = await shown_order(
                tx, order, self.parts.fulfilment, self.desk.clock.now(), sees_deliveries=account.trade_account
            )
        view = await self.parts.views.last(call.customer_id)
        return self.desk.show(
            call,
            "orders/order.html",
            shown=shown,
            order=order,
            sold={line.sku for line in shown.lines if view.find(line.sku) is not None},
        )
