"""Locks the account and the order of an invoice or a payment, before any other row."""

from tradecounter.billing.queries.ledger import lock_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import CancelledOrder, ConfirmedOrder, DeclinedOrder


async def lock_confirmed_order(tx: Transaction, reference: str) -> ConfirmedOrder:
    """Return an order by its reference or id; it and its account's money are locked until the transaction ends.

    Raises DomainError: not found, conflict (not confirmed, or cancelled).
    """
    found = await fetch_order(tx, reference)
    await lock_account(tx, found.customer_id)
    order = await lock_order(tx, found.id)
    if isinstance(order, CancelledOrder | DeclinedOrder):
        raise DomainError(Kind.CONFLICT, f"{order.name} is {order.ended_as}")
    if not isinstance(order, ConfirmedOrder):
        raise DomainError(Kind.CONFLICT, f"order {reference} is not confirmed")
    return order
