"""The types of events; writes events in the transaction of the change. The sequencer numbers them after the commit."""

import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from tradecounter.db.transaction import Transaction
from tradecounter.events.queries import INSERT, INSERT_MANY
from tradecounter.kit.clock import in_whole_seconds
from tradecounter.kit.json_text import to_json

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
ALL_TYPES = CUSTOMER_TYPES | frozenset[str](get_args(ResellerEventType))


def record_event(
    tx: Transaction, type_: EventType, subject: str, now: datetime, customer_id: int | None, data: Mapping[str, Any]
) -> None:
    """Record an event, without a round trip of its own.

    Call it after the lock on the subject is held, because the events of a subject are numbered in this order. The
    customer named by `customer_id` can read events of the types in `CUSTOMER_TYPES`; `data` must be fit for that.
    """
    tx.queue(
        INSERT,
        id=new_event_id(),
        type=type_,
        occurred_at=now,
        subject=subject,
        customer_id=customer_id,
        for_customer=customer_id is not None and type_ in CUSTOMER_TYPES,
        data=to_json(in_whole_seconds(data)).decode(),
    )


class NewEvent(NamedTuple):
    """An event of many that are recorded together."""

    subject: str
    customer_id: int | None
    data: Mapping[str, Any]


def record_events(tx: Transaction, type_: EventType, events: Iterable[NewEvent], now: datetime) -> None:
    """Record events of one type and of different subjects, as `record_event` does, with one statement."""
    rows = [{"id": new_event_id(), **event._asdict(), "data": in_whole_seconds(event.data)} for event in events]
    if rows:
        tx.queue(
            INSERT_MANY,
            type=type_,
            occurred_at=now,
            for_customers=type_ in CUSTOMER_TYPES,
            events=to_json(rows).decode(),
        )


def new_event_id() -> str:
    """Return a random id, by which readers recognise an event that they have handled."""
    return f"evt_{secrets.token_hex(12)}"
