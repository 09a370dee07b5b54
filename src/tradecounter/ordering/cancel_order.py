"""Cancelling an order: stock and credit come back, and the stock serves whoever waits for it.

Support cancels (specification, section 1). Rows are locked in the one order: orders, credit, stock by product.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from tradecounter.credit.exposure import discharge
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.ordering.allocate_back_orders import allocate_back_orders, lock_waiting_orders
from tradecounter.ordering.lookup import any_order
from tradecounter.ordering.queries import lines_of, lock_any_order
from tradecounter.ordering.records import LineRecord, OrderRecord
from tradecounter.ordering.store import cancel_order_row
from tradecounter.stock.allocation import release

_LONGEST_REASON = 1000


async def cancel_order(tx: Transaction, reference: str, reason: str, now: datetime) -> None:
    """Cancel an order or a quote, confirmed or pending, by its reference, id or confirmation code; queue the mail.

    Raises DomainError: not found, invalid (no reason), conflict (dispatched, cancelled or expired already).
    """
    reason = reason.strip()
    require_text("reason", reason, _LONGEST_REASON)
    order_id = (await any_order(tx, reference)).id
    await lock_waiting_orders(tx, also=order_id)
    order = await lock_any_order(tx, order_id)
    lines = (await lines_of(tx, [order.id]))[order.id]
    _require_cancellable(order, lines, now)
    await cancel_order_row(tx, order.id, reason, now)
    await queue(tx, "mail_order_cancelled", order_id=order.id)
    if order.number is not None:
        await discharge(tx, order.customer_id, order.gross - order.paid)
        await _release(tx, lines)
        await allocate_back_orders(tx)


def _require_cancellable(order: OrderRecord, lines: Sequence[LineRecord], now: datetime) -> None:
    name = order.order_reference or order.confirmation_code
    if order.state == "cancelled":
        raise DomainError(Kind.CONFLICT, f"{name} is cancelled already")
    if order.number is None and (order.state == "expired" or (order.expires_at is not None and now > order.expires_at)):
        raise DomainError(Kind.CONFLICT, f"{name} has expired: there is nothing to cancel")
    if any(line.dispatched for line in lines):
        raise DomainError(Kind.CONFLICT, f"{name} is dispatched, at least in part: it cannot be cancelled any more")


async def _release(tx: Transaction, lines: Sequence[LineRecord]) -> None:
    allocated: defaultdict[int, int] = defaultdict(int)
    back_ordered: defaultdict[int, int] = defaultdict(int)
    for line in lines:
        allocated[line.product_id] += line.allocated
        back_ordered[line.product_id] += line.back_ordered
    await release(tx, allocated, back_ordered)
