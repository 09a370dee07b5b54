"""Finds a customer's own order or quote; another customer's is not found."""

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.orders.queries.orders import find_own_order, lock_unconfirmed, pipe_by_code
from tradecounter.orders.states import AnyOrder


async def find_own_order_by_code(tx: Transaction, customer_id: int, code: str) -> AnyOrder | None:
    """Return a customer's order or quote in any state by its confirmation code, or None."""
    async with tx.pipeline() as p:
        found = pipe_by_code(p, customer_id, code.lower())
    return found.first


async def fetch_own_order_by_code(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return what `find_own_order_by_code` does. Raises DomainError (not found)."""
    found = await find_own_order_by_code(tx, customer_id, code)
    if found is None:
        raise not_found("order", code)
    return found


async def fetch_own_order_by_name(tx: Transaction, customer_id: int, name: str) -> AnyOrder:
    """Return a customer's order or quote in any state by its id, its reference or its confirmation code.

    Raises DomainError (not found).
    """
    name = name.strip()
    if "\x00" in name:
        raise not_found("order", name)
    numbered = await find_own_order(tx, customer_id, name)
    return numbered or await fetch_own_order_by_code(tx, customer_id, name)


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
