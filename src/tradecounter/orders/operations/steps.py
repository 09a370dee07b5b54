"""What the API and the pages of orders share: the filter, and requests as the use cases take them."""

from datetime import datetime
from typing import Protocol

from msgspec import Struct

from tradecounter.customers.named_customer import named_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of, time_or_end_of, time_or_start_of
from tradecounter.edge.session import require_right
from tradecounter.kit.clock import local_text
from tradecounter.kit.errors import invalid
from tradecounter.kit.text import joined_word
from tradecounter.orders.queries.all_orders import OrderFilter
from tradecounter.orders.reseller_wire import Confirmation, OverrideCredit, State, Tracking
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.wire import ShippingChoice
from tradecounter.products.queries.products import fetch_product
from tradecounter.shipments.fulfilment import NewTrackingEvent, track_shipment


class OrderCriteria(Protocol):
    """What orders are filtered by, as in a query."""

    @property
    def status(self) -> str | None: ...  # noqa: D102 the API's parameters describe them
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


async def order_filter(
    tx: Transaction,
    wanted: OrderCriteria,
    customer: int | str | None,
    state: State | None,
    *,
    external_id: str | None = None,
    in_days: bool = False,
) -> OrderFilter:
    """Return the filter for a query; only staff may ask for an external id. Pages ask `in_days` of the UK.

    `customer` is an id, or what names the customer.

    Raises DomainError: invalid, not found (the product).
    """
    sku, status = text("sku", wanted.sku), text("status", wanted.status)
    return OrderFilter(
        customer_id=await named_customer(tx, "customer_id", customer) if isinstance(customer, str) else customer,
        reference=text("reference", wanted.reference),
        customer_reference=text("customer_reference", wanted.customer_reference),
        external_id=text("external_id", external_id) or None,
        product_ids=None if sku is None else [(await fetch_product(tx, sku)).record.id],
        created_from=(start_of if in_days else time_or_start_of)("created_from", wanted.created_from),
        created_to=(end_of if in_days else time_or_end_of)("created_to", wanted.created_to),
        status=None if status is None else _status(status),
        state=state,
    )


def _status(label: str) -> str:
    found = next((status for status in STATUSES if joined_word(status) == joined_word(label)), None)
    if found is None:
        raise invalid("status", f"{label[:40]!r} is not one of {', '.join(STATUSES)}")
    return found


async def add_tracking(tx: Transaction, reference: str, body: Tracking, now: datetime) -> None:
    """Add a tracking event to a shipment. Raises DomainError as `track_shipment` does."""
    date = None if body.date is None else local_text(body.date)
    event = NewTrackingEvent(type=body.type, description=body.description, locality=body.locality, date=date)
    await track_shipment(tx, reference, body.tracking_number, event, now)


class ConfirmForm(Struct):
    """How an order is sent, and why it may exceed the credit."""

    shipping_method: int | None = None
    override_credit: OverrideCredit | None = None


def confirmation(call: Call, body: ConfirmForm) -> Confirmation:
    """Return what the use case takes. Raises DomainError (forbidden) for an override without the right to it."""
    if body.override_credit is not None:
        require_right(call.request, "billing:write")
    return Confirmation(
        None if body.shipping_method is None else ShippingChoice(body.shipping_method),
        override_credit=body.override_credit,
    )
