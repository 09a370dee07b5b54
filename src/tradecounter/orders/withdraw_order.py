"""Ends pending orders and quotes that their customers withdraw or replace."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.cancel_order import cancel_unconfirmed
from tradecounter.orders.queries.orders import lock_own_order
from tradecounter.orders.states import NumberedOrder, PendingOrder, ordered_already

_NO_REASON = "withdrawn by the customer"
_REPLACED = "replaced by another order of the customer"


async def withdraw_order(tx: Transaction, customer_id: int, code: str, reason: str, now: datetime) -> None:
    """Cancel a customer's pending order or open quote by its confirmation code, without an e-mail to the customer.

    Without a reason, a general one is recorded. Raises DomainError: not found, invalid (too long a reason), conflict
    (confirmed, cancelled or expired).
    """
    reason = reason.strip() or _NO_REASON
    require_text("reason", reason, LONGEST_REASON)
    order = await lock_own_order(tx, customer_id, code)
    if isinstance(order, NumberedOrder):
        raise ordered_already(order)
    await cancel_unconfirmed(tx, order, reason, now)


async def replace_order(tx: Transaction, customer_id: int, code: str, now: datetime) -> None:
    """Cancel a pending order that another one replaces; one that is cancelled or has expired stays as it is.

    Raises DomainError: not found (also for a quote), conflict (it was confirmed).
    """
    order = await lock_own_order(tx, customer_id, code)
    if order.kind != "order":
        raise not_found("order", code)
    if isinstance(order, NumberedOrder):
        raise ordered_already(order)
    if isinstance(order, PendingOrder) and not order.has_expired(now):
        await cancel_unconfirmed(tx, order, _REPLACED, now)
