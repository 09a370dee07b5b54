"""Ends pending orders and quotes: withdrawn by their customers, or expired."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, not_found, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.cancel_order import cancel_unconfirmed
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.queries.changes import mark_expired
from tradecounter.orders.queries.orders import find_own_order, lock_unconfirmed, pipe_by_code
from tradecounter.orders.states import AnyOrder, NumberedOrder, PendingOrder

_NO_REASON = "withdrawn by the customer"
_REPLACED = "replaced by another order of the customer"


async def fetch_own_order_by_code(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return a customer's order or quote in any state by its confirmation code. Raises DomainError (not found)."""
    async with tx.pipeline() as p:
        found = pipe_by_code(p, customer_id, code.lower())
    if found.first is None:
        raise not_found("order", code)
    return found.first


async def fetch_own_order_by_name(tx: Transaction, customer_id: int, name: str) -> AnyOrder:
    """Return a customer's order or quote in any state by its id, its reference or its confirmation code.

    Raises DomainError (not found).
    """
    name = name.strip()
    if "\x00" in name:
        raise not_found("order", name)
    numbered = await find_own_order(tx, customer_id, name)
    return numbered or await fetch_own_order_by_code(tx, customer_id, name)


async def fetch_own_quote(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return a customer's quote in any state by its confirmation code. Raises DomainError (not found)."""
    quote = await fetch_own_order_by_code(tx, customer_id, code)
    if quote.kind != "quote":
        raise not_found("quote", code)
    return quote


async def withdraw_order(tx: Transaction, customer_id: int, code: str, reason: str, now: datetime) -> None:
    """Cancel a customer's pending order or open quote by its confirmation code, without an e-mail to the customer.

    Without a reason, a general one is recorded. Raises DomainError: not found, invalid (too long a reason), conflict
    (confirmed, cancelled or expired).
    """
    reason = reason.strip() or _NO_REASON
    require_text("reason", reason, LONGEST_REASON)
    order = await lock_own_order(tx, customer_id, code)
    if isinstance(order, NumberedOrder):
        raise DomainError(Kind.CONFLICT, f"the {order.kind} is already order {order.order_reference}")
    await cancel_unconfirmed(tx, order, reason, now)


async def replace_order(tx: Transaction, customer_id: int, code: str, now: datetime) -> None:
    """Cancel a pending order that another one replaces; one that is cancelled or has expired stays as it is.

    Raises DomainError: not found, conflict (it was confirmed).
    """
    order = await lock_own_order(tx, customer_id, code)
    if isinstance(order, NumberedOrder):
        raise DomainError(Kind.CONFLICT, f"the order is already confirmed as {order.order_reference}")
    if isinstance(order, PendingOrder) and not order.has_expired(now):
        await cancel_unconfirmed(tx, order, _REPLACED, now)


async def lock_own_order(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return what `fetch_own_order_by_code` does; unless it is confirmed, it is locked until the transaction ends.

    Raises DomainError (not found).
    """
    async with tx.pipeline() as p:
        lock_unconfirmed(p, customer_id, code.lower())
        found = pipe_by_code(p, customer_id, code.lower())
    if found.first is None:
        raise not_found("order", code)
    return found.first


_MOST = 500  # orders that one transaction changes


async def expire_orders(tx: Transaction, now: datetime) -> int:
    """Mark pending orders and priced quotes that have expired; return how many."""
    expired = await mark_expired(tx, now, _MOST)
    for order in expired:
        record_order_event(tx, "quote.expired" if order.kind == "quote" else "order.expired", order, now)
        audit_order(tx, f"{order.kind}.expire", order, now, before={"state": "pending"}, after={"state": "expired"})
    return len(expired)
