"""`/account/order/{reference}` and `/account/new-order/{code}`: an order, and one to be confirmed."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.approvals.queries import Approval, find_approval
from tradecounter.approvals.rules import needs_approval, require_no_approval
from tradecounter.audit.queries import actor_of_entry
from tradecounter.baskets.change_basket import take_out_of_makers
from tradecounter.billing.queries.invoice_records import InvoiceFilter, InvoiceRecord, list_invoices
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.credit.rules import CreditRoom
from tradecounter.credit_notes.queries import CreditNoteFilter, CreditNoteRecord, list_credit_notes
from tradecounter.customer_requests.handle_requests import ASKS, can_ask
from tradecounter.customer_requests.queries import CustomerRequest, RequestKind, requests_of_order
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import BUYER, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.clock import day_in_words, moment_of, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import plural
from tradecounter.orders.cancel_order import withdraw_order
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.fulfilled import Fulfilled, Shipped, carrier_of
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.offers import chosen_option, dated_now
from tradecounter.orders.pages.both.new_order import OWN
from tradecounter.orders.present import expected_dispatch
from tradecounter.orders.queries.changes import OrderChange, changes_of_order
from tradecounter.orders.queries.notes import OrderNote, own_notes_of
from tradecounter.orders.queries.orders import (
    fetch_own_order_by_code,
    fetch_own_order_by_name,
    lines_of_order,
    lock_own_order,
)
from tradecounter.orders.rules import CANCELLED
from tradecounter.orders.states import CancelledOrder, ConfirmedOrder, NumberedOrder, PendingOrder
from tradecounter.orders.waiting import Wait, open_lines_of, wait_of_pending, waits_of_orders
from tradecounter.orders.wire import ProductSerialNumber
from tradecounter.parts.account import AccountParts
from tradecounter.shipments.queries.fulfilment import OrderFulfilment, find_video
from tradecounter.shipments.wire import OrderVideoResponse

_ASKED_IN_WORDS = {"cancel": "You asked to cancel", "return": "You asked to return", "message": "You wrote to us"}


class Happened(Struct, frozen=True):
    """Something that happened; `more` are the words of whoever did it."""

    at: datetime
    sentence: str
    more: str = ""


def _of_shipment(order: ConfirmedOrder | CancelledOrder, shipment: Shipped) -> Iterator[Happened]:
    units, carrier = sum(shipment.units.values()), carrier_of(order, shipment)
    by = f" with {carrier}" if carrier else ""
    tracked = f", tracking number {shipment.tracking_number}" if shipment.tracking_number else ""
    yield Happened(shipment.dispatched_at, f"{plural(units, 'unit')} left{by}{tracked}.")
    for event in shipment.events:
        place = f" in {event.locality}" if event.locality else ""
        yield Happened(moment_of(event.date), f"The parcel: {event.type}{place}.", event.description or "")


def _of_change(change: OrderChange) -> Happened:
    cancelled = plural(change.units, "unit was cancelled", "units were cancelled")
    said = f"{cancelled}." if change.kind == "cancelled" else "The order was changed."
    return Happened(change.changed_at, said, change.reason)


def _of_request(request: CustomerRequest) -> Iterator[Happened]:
    units = sum(item["quantity"] for item in request.items)
    yield Happened(request.opened_at, f"{_ASKED_IN_WORDS[request.kind]}{' ' + plural(units, 'unit') if units else ''}.")
    if request.closed_at is not None:
        yield Happened(request.closed_at, "We answered.")


_MOST_FILES = 100


class OwnOrder(Struct, frozen=True):
    """A customer's order with all that belongs to it. `expected` is when the rest leaves.

    `notes` are the customer's own; `confirmed_by` is the user who did, None for a program or the reseller.
    `waits` says by line id why units have not left.
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
    def timeline(self) -> list[Happened]:
        """What happened to the order, the oldest first."""
        order = self.order
        found = [Happened(order.confirmed_at, f"{self.confirmed_by or 'Your company'} placed the order.")]
        for shipment in self.fulfilled.shipments:
            found += _of_shipment(order, shipment)
        for invoice in self.invoices:
            due = day_in_words(uk_date(invoice.due_at))
            said = f"We sent invoice {invoice.number} for {in_pounds(invoice.gross)}, due on {due}."
            found.append(Happened(invoice.issued_at, said))
        for note in self.credit_notes:
            said = f"We sent credit note {note.number} for {in_pounds(note.gross)}."
            found.append(Happened(note.issued_at, said))
        for request in self.requests:
            found += _of_request(request)
        found += map(_of_change, self.changes)
        if order.expected_changed_at is not None:
            found.append(Happened(order.expected_changed_at, "We told you of a new date for the rest."))
        if isinstance(order, CancelledOrder):
            found.append(Happened(order.cancelled_at, "The order was cancelled.", order.cancel_reason))
        return sorted(found, key=lambda each: each.at)

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
        found = self.fulfilled.serial_numbers
        return [number for part in (line, *line.components) for number in found.get(part.id, ())]

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
        order,
        lines,
        fulfilled,
        expected,
        await list_invoices(tx, InvoiceFilter(order_id=order.id), _MOST_FILES),
        await list_credit_notes(tx, CreditNoteFilter(order_id=order.id), _MOST_FILES),
        await find_video(tx, order.id),
        await requests_of_order(tx, order.id),
        await own_notes_of(tx, order.id),
        None if confirmed is None else confirmed.user,
        waits.get(order.id, {}),
        await changes_of_order(tx, order.id),
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
            address_lines=address_lines,
            moment_of=moment_of,
        )


_REVIEW, _DISCARD_REVIEW = f"{OWN}/{{code}}", f"{OWN}/{{code}}/discard"


class ConfirmForm(Struct):
    """The shipping option; without one, the account's default."""

    shipping_method: int | None = None


class ReviewPages(Struct, frozen=True):
    """The page of a pending order, which is confirmed or discarded there."""

    desk: PageDesk
    parts: AccountParts

    @step(
        _REVIEW,
        "Confirm your order",
        shown=lambda self, call, filled: self._show(call, filled),
        to=lambda order: f"/account/order/{order.order_reference}",
        done=lambda order: f"Thank you. Your order is confirmed as {order.order_reference}.",
        user_roles=BUYER,
    )
    async def confirm(self, tx: Transaction, call: Call, body: ConfirmForm, now: datetime) -> ConfirmedOrder:
        before, user = await lock_own_order(tx, call.customer_id, _code_of(call)), user_of(call)
        policy = self.parts.contexts.policy
        order, lines = await confirm_order(tx, call.customer_id, _code_of(call), body.shipping_method, policy, now)
        if not isinstance(before, NumberedOrder):
            require_no_approval(user.roles, user.order_limit, order.gross)
            if await find_approval(tx, call.customer_id, order.confirmation_code, now) is None:
                await take_out_of_makers(tx, order, lines)  # else it has left the basket with the request
        return order

    @step(
        _DISCARD_REVIEW,
        "Discard an order",
        asks=lambda self, call: self._ask_to_discard(call),
        to="/account/order",
        done="The order is discarded. Its lines are among the cancelled orders.",
        user_roles=BUYER,
    )
    async def discard(self, tx: Transaction, call: Call, now: datetime) -> None:
        await withdraw_order(tx, call.customer_id, _code_of(call), "", now)

    async def _ask_to_discard(self, call: Call) -> Question:
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_code(tx, call.customer_id, _code_of(call))
        return Question(
            title=f"Discard {order.customer_reference}?",
            text="Nothing was ordered yet, so there is nothing to pay. You can use its lines again.",
            button="Discard the order",
            back=_REVIEW.format(code=order.confirmation_code),
            back_name=order.customer_reference,
            danger=True,
        )

    async def _show(self, call: Call, filled: Filled) -> Response:
        now = self.desk.clock.now()
        user = user_of(call)
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_code(tx, call.customer_id, _code_of(call))
            if isinstance(order, NumberedOrder):
                return self.desk.go(call, f"/account/order/{order.order_reference}")
            if order.kind == "quote":
                return self.desk.go(call, f"/account/quote/{order.confirmation_code}")
            lines = await lines_of_order(tx, order.id)
            notes = await own_notes_of(tx, order.id)
            account = await fetch_account(tx, call.customer_id)
            room = await fetch_credit_room(tx, call.customer_id)
            approval = await find_approval(tx, call.customer_id, order.confirmation_code, now)
        order = await dated_now(order, lines, self.parts.views, now)
        needs = needs_approval(user.roles, user.order_limit, order.least_gross)
        is_open = isinstance(order, PendingOrder) and not order.has_expired(now)
        return self.desk.show(
            call,
            "orders/review.html",
            form=filled,
            order=order,
            is_open=is_open,
            wait=_wait(order, approval, room) if isinstance(order, PendingOrder) and is_open else None,
            is_pending=isinstance(order, PendingOrder),
            lines=lines,
            notes=notes,
            chosen=chosen_option(order, account.shipping_method),
            room=room,
            approval=approval,
            limit=user.order_limit if needs else None,
            may_ask=user.order_limit is not None,
            address_lines=address_lines,
        )


def _wait(order: PendingOrder, approval: Approval | None, room: CreditRoom) -> Wait:
    asked_at = approval.requested_at if approval is not None and approval.state == "waiting" else None
    return wait_of_pending(order.least_gross, order.expires_at, asked_at, room)


def _code_of(call: Call) -> str:
    return call.path_text("code", "order")
