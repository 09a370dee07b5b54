"""Locks the order of an invoice or a payment, before any other row."""

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.lookup import any_order
from tradecounter.ordering.queries.orders import lock_order
from tradecounter.ordering.states import CancelledOrder, ConfirmedOrder, DeclinedOrder


async def lock_confirmed_order(tx: Transaction, reference: str) -> ConfirmedOrder:
    """Return an order by its reference or id, locked until the transaction ends.

    Raises DomainError: not found, precondition failed (not confirmed, or cancelled).
    """
    order = await lock_order(tx, (await any_order(tx, reference)).id)
    if isinstance(order, CancelledOrder | DeclinedOrder):
        raise DomainError(Kind.PRECONDITION_FAILED, f"order {order.name} is cancelled")
    if not isinstance(order, ConfirmedOrder):
        raise DomainError(Kind.PRECONDITION_FAILED, f"order {reference} is not confirmed")
    return order
