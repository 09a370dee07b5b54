"""Finds a customer's own quote; another customer's is not found."""

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.orders.queries.orders import pipe_by_code
from tradecounter.orders.states import AnyOrder


async def fetch_own_quote(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return a customer's quote in any state by its confirmation code. Raises DomainError (not found)."""
    async with tx.pipeline() as p:
        found = pipe_by_code(p, customer_id, code.lower())
    if found.first is None or found.first.kind != "quote":
        raise not_found("quote", code)
    return found.first
