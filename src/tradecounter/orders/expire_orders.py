"""Ends pending orders and priced quotes that have expired."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.queries.changes import mark_expired

_MOST = 500  # orders that one transaction changes


async def expire_orders(tx: Transaction, now: datetime) -> int:
    """Mark pending orders and priced quotes that have expired; return how many."""
    expired = await mark_expired(tx, now, _MOST)
    for order in expired:
        record_order_event(tx, "quote.expired" if order.kind == "quote" else "order.expired", order, now)
        audit_order(tx, f"{order.kind}.expire", order, now, before={"state": "pending"}, after={"state": "expired"})
    return len(expired)
