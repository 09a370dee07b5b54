"""Shows an endpoint's deliveries, and makes them again. Every function takes its caller's transaction.

Functions that take `customer_id` see only this customer's endpoints; with None, they see all.
"""

import secrets
from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.webhooks.queries.deliveries import (
    DeliveryRecord,
    deliveries_after,
    fetch_delivery,
    insert_delivery,
    insert_replay,
    resume_deliveries,
)
from tradecounter.webhooks.queries.endpoints import fetch_endpoint, lock_endpoint
from tradecounter.webhooks.wire import Delivery, Replay, Replayed, delivery_on_the_wire

PING = "webhook.ping"


async def retry_now(tx: Transaction, webhook_id: int, now: datetime, customer_id: int | None = None) -> None:
    """Have an endpoint's waiting deliveries attempted at once. Raises DomainError (not found, conflict)."""
    await _lock_active(tx, webhook_id, customer_id)
    await resume_deliveries(tx, webhook_id, now)
    audit(tx, "webhook.retry", f"webhook/{webhook_id}", now)


async def ping_webhook(tx: Transaction, webhook_id: int, now: datetime, customer_id: int | None = None) -> Delivery:
    """Have the worker send a ping, and return its delivery. Raises DomainError (not found, conflict)."""
    await _lock_active(tx, webhook_id, customer_id)
    subject = f"webhook/{webhook_id}"
    delivery_id = await insert_delivery(tx, webhook_id, None, f"evt_{secrets.token_hex(12)}", PING, subject, now)
    audit(tx, "webhook.ping", subject, now)
    return delivery_on_the_wire(await fetch_delivery(tx, webhook_id, delivery_id))


async def redeliver(
    tx: Transaction, webhook_id: int, delivery_id: int, now: datetime, customer_id: int | None = None
) -> Delivery:
    """Deliver an event once more, and return the new delivery. Raises DomainError (not found, conflict)."""
    await _lock_active(tx, webhook_id, customer_id)
    old = await fetch_delivery(tx, webhook_id, delivery_id)
    new_id = await insert_delivery(tx, webhook_id, old.sequence, old.event_id, old.type, old.subject, now)
    audit(tx, "webhook.redeliver", f"webhook/{webhook_id}", now, after={"delivery": delivery_id, "event": old.event_id})
    return delivery_on_the_wire(await fetch_delivery(tx, webhook_id, new_id))


async def replay(
    tx: Transaction, webhook_id: int, wanted: Replay, now: datetime, customer_id: int | None = None
) -> Replayed:
    """Deliver the endpoint's events in a range once more. Raises DomainError (not found, invalid, conflict)."""
    if wanted.last < wanted.first:
        raise invalid("to", "must not be before `from`")
    await _lock_active(tx, webhook_id, customer_id)
    made = await insert_replay(tx, webhook_id, wanted.first, wanted.last, now)
    after = {"from": wanted.first, "to": wanted.last, "deliveries": made}
    audit(tx, "webhook.replay", f"webhook/{webhook_id}", now, after=after)
    return Replayed(made)


async def list_deliveries(
    tx: Transaction,
    webhook_id: int,
    after: int,
    most: int,
    customer_id: int | None = None,
    *,
    changed_since: datetime | None = None,
) -> list[DeliveryRecord]:
    """Return an endpoint's deliveries, the latest first. Raises DomainError (not found)."""
    await fetch_endpoint(tx, webhook_id, customer_id)
    return await deliveries_after(tx, webhook_id, after, most, changed_since)


async def show_delivery(
    tx: Transaction, webhook_id: int, delivery_id: int, customer_id: int | None = None
) -> DeliveryRecord:
    """Return one of an endpoint's deliveries. Raises DomainError (not found)."""
    await fetch_endpoint(tx, webhook_id, customer_id)
    return await fetch_delivery(tx, webhook_id, delivery_id)


async def _lock_active(tx: Transaction, webhook_id: int, customer_id: int | None) -> None:
    """Lock an endpoint that gets deliveries. Raises DomainError (not found, conflict: not active)."""
    endpoint = await lock_endpoint(tx, webhook_id, customer_id)
    if endpoint.state != "active":
        raise DomainError(Kind.CONFLICT, f"the webhook is {endpoint.state}; set its state to active first")
