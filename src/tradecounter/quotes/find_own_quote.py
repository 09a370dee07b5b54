"""Finds a customer's own quote; another customer's is not found."""

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.orders.find_own_order import find_own_order_by_code
from tradecounter.orders.states import AnyOrder


async def fetch_own_quote(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return a customer's quote in any state by its confirmation code. Raises DomainError (not found)."""
    quote = await find_own_order_by_code(tx, customer_id, code)
    if quote is None or quote.kind != "quote":
        raise not_found("quote", code)
    return quote
