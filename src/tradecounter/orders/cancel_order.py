"""Cancels orders and quotes, whole or in part, withdraws or replaces pending ones, ends expired ones.

Locks are taken in the order of docs/architecture.md#locks.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import UNSET
from msgspec.structs import replace

from tradecounter.credit.queries import discharge
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import EventType
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import (
    OrderLine,
    Purpose,
    named_units,
    released_units,
    status_of,
    total_costs,
    without_units,
)
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.queries.changes import (
    insert_change,
    mark_expired,
    set_in_basket,
    store_cancellation,
    store_changed_order,
    store_lines,
)
from tradecounter.orders.queries.orders import invoiced_units, lines_of_order, lock_order, lock_unconfirmed
from tradecounter.orders.reseller_wire import Cancellation
from tradecounter.orders.rules import CANCELLED
from tradecounter.orders.serve_back_orders import allocate_back_orders
from tradecounter.orders.states import (
    AnyOrder,
    CancelledOrder,
    CancelledUnconfirmed,
    ConfirmedOrder,
    NumberedOrder,
    OrderKind,
    PendingOrder,
    PricedQuote,
    UnpricedQuote,
    ordered_already,
)
from tradecounter.stock.queries.stock import release

CANCEL = Purpose(verb="cancel", most=lambda line: line.undispatched)


async def cancel_order(tx: Transaction, reference: str, request: Cancellation, now: datetime) -> None:
    """Cancel an order or a quote by its reference, id or confirmation code; queue the e-mail.

    A confirmed order with dispatched or remaining units stays confirmed. Raises DomainError: not found, invalid
    (no reason, wrong items), conflict (nothing is left to cancel, or the order is cancelled, expired, or not
    confirmed).
    """
    reason, items = require_text("reason", request.reason, LONGEST_REASON), request.items
    order_id = (await fetch_order(tx, reference)).id
    await lock_waiting_orders(tx, also=order_id)
    order = await lock_order(tx, order_id)
    lines = await lines_of_order(tx, order.id)
    _require_cancellable(order, lines, now, in_part=items is not UNSET)
    undispatched = {line.id: line.undispatched for line in lines if line.undispatched}
    units = undispatched if items is UNSET else named_units(lines, items, CANCEL)
    if isinstance(order, ConfirmedOrder) and (units != undispatched or any(line.dispatched for line in lines)):
        await _cancel_part(tx, order, lines, units, reason, now)
    else:
        await _cancel_whole(tx, order, lines, reason, now)


async def cancel_unconfirmed(tx: Transaction, order: AnyOrder, reason: str, now: datetime) -> None:
    """Cancel a pending order or a quote, which the caller has locked. Queues no e-mail.

    Raises DomainError: conflict (cancelled or expired).
    """
    _require_cancellable(order, [], now, in_part=False)
    await _record_cancellation(tx, order, reason, now)


def _require_cancellable(order: AnyOrder, lines: Sequence[OrderLine], now: datetime, *, in_part: bool) -> None:
    match order:
        case CancelledUnconfirmed() | CancelledOrder():
            raise DomainError(Kind.CONFLICT, f"{order.name} is already {order.ended_as}")
        case ConfirmedOrder():
            if not any(line.undispatched for line in lines):
                raise DomainError(Kind.CONFLICT, f"{order.name} is {order.status.lower()}: nothing is left to cancel")
        case _ if in_part:
            raise DomainError(Kind.CONFLICT, f"{order.name} is not confirmed: it can only be cancelled as a whole")
        case UnpricedQuote():
            pass
        case _:
            if order.has_expired(now):
                raise DomainError(Kind.CONFLICT, f"{order.name} has expired and cannot be cancelled")


async def _cancel_whole(
    tx: Transaction, order: AnyOrder, lines: Sequence[OrderLine], reason: str, now: datetime
) -> None:
    await _record_cancellation(tx, order, reason, now)
    queue(tx, "mail_order_cancelled", order_id=order.id)
    if isinstance(order, ConfirmedOrder):
        discharge(tx, order.customer_id, order.due)
        await release(tx, *released_units(lines, []))
        await allocate_back_orders(tx)


async def _record_cancellation(tx: Transaction, order: AnyOrder, reason: str, now: datetime) -> None:
    await store_cancellation(tx, order.id, reason, now)
    declined = isinstance(order, UnpricedQuote | PricedQuote)
    event: EventType = "quote.declined" if declined else "order.cancelled"
    record_order_event(tx, event, order, now, status=CANCELLED, reason=reason)
    before, after = {"status": order.label}, {"status": CANCELLED, "reason": reason}
    audit_order(tx, "quote.decline" if declined else "order.cancel", order, now, before=before, after=after)


async def _cancel_part(
    tx: Transaction,
    order: ConfirmedOrder,
    lines: Sequence[OrderLine],
    units: Mapping[int, int],
    reason: str,
    now: datetime,
) -> None:
    kept = [without_units(line, units[line.id], order.tax_rate) if line.id in units else line for line in lines]
    cost_net, cost_tax = total_costs(kept)
    changed = replace(order, cost_net=cost_net, cost_tax=cost_tax)
    changed = replace(changed, status=status_of(kept, await invoiced_units(tx, [order.id]), changed.due))
    await store_lines(tx, kept)
    await store_changed_order(tx, changed)
    change_id = await insert_change(tx, order.id, "cancelled", reason, units, now)
    queue(tx, "mail_order_changed", order_id=order.id, change_id=change_id)
    cancelled = [{"id": line.id, "sku": line.sku, "quantity": units[line.id]} for line in lines if line.id in units]
    record_order_event(tx, "order.cancelled", changed, now, reason=reason, items=cancelled, total=changed.gross)
    audit_order(
        tx,
        "order.cancel",
        order,
        now,
        before={"status": order.status, "total": order.gross},
        after={"status": changed.status, "total": changed.gross, "cancelled": cancelled, "reason": reason},
    )
    discharge(tx, order.customer_id, order.gross - changed.gross)
    await release(tx, *released_units(lines, kept))
    await allocate_back_orders(tx)


_NO_REASON = "withdrawn by the customer"


async def withdraw_order(tx: Transaction, order: AnyOrder, reason: str, now: datetime) -> None:
    """Cancel a pending order or an open quote that the caller has locked with `lock_unconfirmed`, without an e-mail.

    Without a reason, a general one is recorded. Raises DomainError: invalid (too long a reason), conflict (confirmed,
    cancelled or expired).
    """
    reason = require_text("reason", reason.strip() or _NO_REASON, LONGEST_REASON)
    if isinstance(order, NumberedOrder):
        raise ordered_already(order)
    await cancel_unconfirmed(tx, order, reason, now)


def replaced_by(kind: OrderKind) -> str:
    """Return why a pending order was cancelled that another order or a quote replaces."""
    return f"replaced by {'a quote' if kind == 'quote' else 'another order'}"


async def replace_order(tx: Transaction, customer_id: int, code: str, by: OrderKind, now: datetime) -> int | None:
    """Cancel a pending order that another one or a quote replaces; leave it alone if it is cancelled or has expired.

    Returns the user whose basket has its lines, which are now those of what replaces it, or None. Raises DomainError:
    not found (also for a quote), conflict (it was confirmed).
    """
    order = await lock_unconfirmed(tx, customer_id, code, "order")
    if isinstance(order, NumberedOrder):
        raise ordered_already(order)
    if isinstance(order, PendingOrder) and not order.has_expired(now):
        await cancel_unconfirmed(tx, order, f"{replaced_by(by)} of the customer", now)
    if order.in_basket_of is not None:
        set_in_basket(tx, order.id, None)
    return order.in_basket_of


_MOST_AT_ONCE = 500  # orders that one transaction changes


async def expire_orders(tx: Transaction, now: datetime) -> int:
    """Mark pending orders and priced quotes that have expired; return how many."""
    expired = await mark_expired(tx, now, _MOST_AT_ONCE)
    for order in expired:
        record_order_event(tx, "quote.expired" if order.kind == "quote" else "order.expired", order, now)
        audit_order(tx, f"{order.kind}.expire", order, now, before={"state": "pending"}, after={"state": "expired"})
    return len(expired)
