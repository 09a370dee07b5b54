"""The types of events."""

from typing import Literal, get_args

CustomerEventType = Literal[
    "order.approval_requested",
    "order.confirmed",
    "order.amended",
    "order.cancelled",
    "order.dispatched",
    "order.shipment_taken_back",
    "order.tracking_updated",
    "order.expected_date_changed",
    "order.returned",
    "request.opened",
    "request.closed",
    "quote.requested",
    "quote.priced",
    "quote.declined",
    "quote.expired",
    "invoice.issued",
    "credit_note.issued",
    "payment.recorded",
    "payment.reversed",
    "price.changed",
    "stock.changed",
    "log.restored",
]
ResellerEventType = Literal[
    "order.created",
    "order.expired",
    "customer.created",
    "customer.changed",
    "customer.blocked",
    "product.added",
    "product.changed",
    "product.removed",
    "import.applied",
    "import.rolled_back",
    "job.failed",
]
EventType = CustomerEventType | ResellerEventType

CUSTOMER_TYPES: frozenset[str] = frozenset(get_args(CustomerEventType))
RESELLER_TYPES: frozenset[str] = frozenset(get_args(ResellerEventType))
