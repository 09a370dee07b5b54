"""What happened to a customer's order, in sentences."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.billing.queries.credit_notes import CreditNoteRecord
from tradecounter.billing.queries.invoice_records import InvoiceRecord
from tradecounter.customer_requests.queries import CustomerRequest
from tradecounter.kit.local_time import day_in_words, moment_of, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import plural
from tradecounter.orders.fulfilled import Shipped, carrier_of
from tradecounter.orders.queries.changes import OrderChange
from tradecounter.orders.states import CancelledOrder, ConfirmedOrder

_ASKED = {"cancel": "You asked to cancel", "return": "You asked to return", "message": "You wrote to us"}


class Happened(Struct, frozen=True):
    """Something that happened; `more` are the words of whoever did it."""

    at: datetime
    sentence: str
    more: str = ""


def timeline(
    order: ConfirmedOrder | CancelledOrder,
    confirmed_by: str | None,
    shipments: Sequence[Shipped],
    papers: Iterable[InvoiceRecord | CreditNoteRecord],
    requests: Iterable[CustomerRequest],
    changes: Iterable[OrderChange],
) -> list[Happened]:
    """Return what happened to an order, the oldest first."""
    found = [Happened(order.confirmed_at, f"{confirmed_by or 'Your company'} placed the order.")]
    for shipment in shipments:
        found += _of_shipment(order, shipment)
    for paper in papers:
        if isinstance(paper, InvoiceRecord):
            due = day_in_words(uk_date(paper.due_at))
            said = f"We sent invoice {paper.number} for {in_pounds(paper.gross)}, due on {due}."
        else:
            said = f"We sent credit note {paper.number} for {in_pounds(paper.gross)}."
        found.append(Happened(paper.issued_at, said))
    for request in requests:
        found += _of_request(request)
    found += map(_of_change, changes)
    if order.expected_changed_at is not None:
        found.append(Happened(order.expected_changed_at, "We told you of a new date for the rest."))
    if isinstance(order, CancelledOrder):
        found.append(Happened(order.cancelled_at, "The order was cancelled.", order.cancel_reason))
    return sorted(found, key=lambda each: each.at)


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
    yield Happened(request.opened_at, f"{_ASKED[request.kind]}{' ' + plural(units, 'unit') if units else ''}.")
    if request.closed_at is not None:
        yield Happened(request.closed_at, "We answered.")
