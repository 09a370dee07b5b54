"""Cancels an order for support: releases its credit and stock, and serves waiting orders (specification, section 1).

Rows are always locked in the same order: orders, credit, stock by product.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from tradecounter.credit.queries import discharge
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.events.types import EventType
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.ordering.back_orders.allocate_back_orders import allocate_back_orders
from tradecounter.ordering.history import audit_order, record_order_event
from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.lookup import any_order
from tradecounter.ordering.queries.back_orders import lock_waiting_orders
from tradecounter.ordering.queries.changes import store_cancellation
from tradecounter.ordering.queries.lines import lines_of_order
from tradecounter.ordering.queries.orders import lock_order
from tradecounter.ordering.rules import CANCELLED
from tradecounter.ordering.states import (
    AnyOrder,
    CancelledOrder,
    ConfirmedOrder,
    DeclinedOrder,
    PricedQuote,
    UnpricedQuote,
)
from tradecounter.stock.queries.allocation import release

_LONGEST_REASON = 1000


async def cancel_order(tx: Transaction, reference: str, reason: str, now: datetime) -> None:
    """Cancel an order or a quote by its reference, id or confirmation code; queue the e-mail.

    Raises DomainError: not found, invalid (no reason), conflict (already dispatched, cancelled or expired).
    """
    reason = reason.strip()
    require_text("reason", reason, _LONGEST_REASON)
    order_id = (await any_order(tx, reference)).id
    await lock_waiting_orders(tx, also=order_id)
    order = await lock_order(tx, order_id)
    lines = await lines_of_order(tx, order.id)
    _require_cancellable(order, lines, now)
    await store_cancellation(tx, order.id, reason, now)
    await queue(tx, "mail_order_cancelled", order_id=order.id)
    declined = isinstance(order, UnpricedQuote | PricedQuote)
    event: EventType = "quote.declined" if declined else "order.cancelled"
    record_order_event(tx, event, order, now, status=CANCELLED, reason=reason)
    before, after = {"status": order.label}, {"status": CANCELLED, "reason": reason}
    audit_order(tx, "quote.decline" if declined else "order.cancel", order, now, before=before, after=after)
    if isinstance(order, ConfirmedOrder):
        await discharge(tx, order.customer_id, order.due)
        await _release(tx, lines)
        await allocate_back_orders(tx)


def _require_cancellable(order: AnyOrder, lines: Sequence[OrderLine], now: datetime) -> None:
    match order:
        case DeclinedOrder() | CancelledOrder():
            raise DomainError(Kind.CONFLICT, f"{order.name} is already cancelled")
        case ConfirmedOrder():
            if any(line.dispatched for line in lines):
                raise DomainError(Kind.CONFLICT, f"{order.name} is at least partly dispatched and cannot be cancelled")
        case UnpricedQuote():
            pass
        case _:
            if order.has_expired(now):
                raise DomainError(Kind.CONFLICT, f"{order.name} has expired and cannot be cancelled")


async def _release(tx: Transaction, lines: Sequence[OrderLine]) -> None:
    allocated: Counter[int] = Counter()
    back_ordered: Counter[int] = Counter()
    for line in lines:
        allocated[line.product_id] += line.allocated
        back_ordered[line.product_id] += line.back_ordered
    await release(tx, allocated, back_ordered)
