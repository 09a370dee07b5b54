"""What the API and the pages of orders share: filters, and steps with their bodies as the use cases take them."""

from datetime import datetime
from typing import Protocol

from msgspec import UNSET

from tradecounter.backoffice.desk import moment, text
from tradecounter.backoffice.order_wire import Cancellation, Dispatch, Receipt, ReturnRequest, State, Tracking
from tradecounter.billing.credit_return import receive_and_credit
from tradecounter.billing.reseller_wire import ReceivedReturn, present_received
from tradecounter.catalogue.queries.lookup import find_product
from tradecounter.db.transaction import Transaction
from tradecounter.fulfilment.dispatch_order import DispatchRequest, dispatch_order
from tradecounter.fulfilment.rules import Serial, normalised_mac
from tradecounter.fulfilment.track_shipment import NewTrackingEvent, track_shipment
from tradecounter.kit.errors import invalid
from tradecounter.kit.local_time import local_text
from tradecounter.kit.text import joined_word
from tradecounter.letterhead.seller import Letterhead
from tradecounter.ordering.cancel_order import cancel_order
from tradecounter.ordering.queries.lookup import OrderFilter
from tradecounter.ordering.returns.find_return import shown_return
from tradecounter.ordering.returns.open_return import open_return
from tradecounter.ordering.rules import STATUSES


class OrderCriteria(Protocol):
    """What orders are filtered by, as in a query."""

    @property
    def state(self) -> State | None: ...  # noqa: D102 the API's parameters describe them
    @property
    def status(self) -> str | None: ...  # noqa: D102
    @property
    def customer_id(self) -> int | None: ...  # noqa: D102
    @property
    def reference(self) -> str | None: ...  # noqa: D102
    @property
    def customer_reference(self) -> str | None: ...  # noqa: D102
    @property
    def sku(self) -> str | None: ...  # noqa: D102
    @property
    def created_from(self) -> str | None: ...  # noqa: D102
    @property
    def created_to(self) -> str | None: ...  # noqa: D102


async def order_filter(tx: Transaction, wanted: OrderCriteria) -> OrderFilter:
    """Return the filter for a query. Raises DomainError: invalid, not found (the product)."""
    sku, status = text("sku", wanted.sku), text("status", wanted.status)
    return OrderFilter(
        customer_id=wanted.customer_id,
        reference=text("reference", wanted.reference),
        customer_reference=text("customer_reference", wanted.customer_reference),
        product_id=None if sku is None else (await find_product(tx, sku)).record.id,
        created_from=moment("created_from", wanted.created_from),
        created_to=moment("created_to", wanted.created_to, whole_day=True),
        status=None if status is None else _status(status),
        state=wanted.state,
    )


def _status(label: str) -> str:
    found = next((status for status in STATUSES if joined_word(status) == joined_word(label)), None)
    if found is None:
        raise invalid("status", f"{label[:40]!r} is not one of {', '.join(STATUSES)}")
    return found


async def cancel_units(tx: Transaction, reference: str, body: Cancellation, now: datetime) -> None:
    """Cancel an order, or some of its units. Raises DomainError as `cancel_order` does."""
    items = None if body.items is UNSET else [(item.id, item.quantity) for item in body.items]
    await cancel_order(tx, reference, body.reason, now, items)


async def dispatch_units(tx: Transaction, reference: str, body: Dispatch, now: datetime, *, invoice: bool) -> None:
    """Dispatch a shipment; with `invoice`, the worker invoices it. Raises DomainError as `dispatch_order` does."""
    if body.items is UNSET:
        request = DispatchRequest(tracking_number=body.tracking_number, only_allocated=True, invoice=invoice)
    else:
        serials = [
            Serial(
                item.id,
                number.serial_number,
                normalised_mac(number.mac_address) if number.mac_address else "",
                number.provisioning_sku,
            )
            for item in body.items
            for number in item.serial_numbers
        ]
        items = [(item.id, item.quantity) for item in body.items]
        request = DispatchRequest(items=items, tracking_number=body.tracking_number, serials=serials, invoice=invoice)
    await dispatch_order(tx, reference, request, now)


async def add_tracking(tx: Transaction, reference: str, body: Tracking, now: datetime) -> None:
    """Add a tracking event to a shipment. Raises DomainError as `track_shipment` does."""
    date = None if body.date is None else local_text(body.date)
    event = NewTrackingEvent(type=body.type, description=body.description, locality=body.locality, date=date)
    await track_shipment(tx, reference, body.tracking_number, event, now)


async def open_units_return(tx: Transaction, reference: str, body: ReturnRequest, now: datetime) -> str:
    """Open a return of dispatched units, and return its number. Raises DomainError as `open_return` does."""
    units = [(item.id, item.quantity) for item in body.items]
    serials = {item.id: item.serial_numbers for item in body.items if item.serial_numbers}
    return await open_return(tx, reference, units, body.reason, now, serials)


async def receive_units(
    tx: Transaction, number: str, body: Receipt, letterhead: Letterhead, now: datetime
) -> ReceivedReturn:
    """Receive units of a return, and credit them if that is wanted. Raises DomainError as `receive_and_credit` does."""
    restocked = [(item.id, item.restock) for item in body.items]
    scrapped = [(item.id, item.scrap) for item in body.items]
    notes = await receive_and_credit(tx, number, restocked, scrapped, letterhead, now, credit=body.credit)
    return present_received(await shown_return(tx, number), notes)
