"""Writes events, in the transaction of the change. The sequencer numbers them after the commit."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tradecounter.db.transaction import Transaction
from tradecounter.events.queries import INSERT
from tradecounter.events.types import CUSTOMER_TYPES, EventType
from tradecounter.rest.responses import to_json


def record_event(
    tx: Transaction, type_: EventType, subject: str, now: datetime, customer_id: int | None, data: Mapping[str, Any]
) -> None:
    """Record an event, without a round trip of its own.

    Call it after the lock on the subject is held, because the events of a subject are numbered in this order. The
    customer named by `customer_id` can read events of the types in `CUSTOMER_TYPES`; `data` must be fit for that.
    """
    tx.queue(
        INSERT,
        id=f"evt_{secrets.token_hex(12)}",
        type=type_,
        occurred_at=now,
        subject=subject,
        customer_id=customer_id,
        for_customer=customer_id is not None and type_ in CUSTOMER_TYPES,
        data=to_json(data).decode(),
    )
