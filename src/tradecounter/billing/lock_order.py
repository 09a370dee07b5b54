"""The order that is billed, locked before everything else."""

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.lookup import any_order
from tradecounter.ordering.queries import lock_any_order
from tradecounter.ordering.records import OrderRecord


async def lock_confirmed_order(tx: Transaction, reference: str) -> tuple[OrderRecord, str]:
    """Return an order by its reference or id, with its reference, locked until the transaction ends.

    Raises DomainError: not found, precondition failed (not confirmed, or cancelled).
    """
    order = await lock_any_order(tx, (await any_order(tx, reference)).id)
    if order.state == "cancelled":
        raise DomainError(Kind.PRECONDITION_FAILED, f"order {order.order_reference} is cancelled")
    if order.order_reference is None:
        raise DomainError(Kind.PRECONDITION_FAILED, f"order {reference} is not confirmed")
    return order, order.order_reference
