"""The orders, quotes and returns that wait for staff, and since when."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many wait, and since when the oldest does."""

    count: int
    oldest: datetime | None


_ORDERS = Statement("""
    select status, count(*), min(confirmed_at) from orders
    where state = 'confirmed' and status = any(:statuses::text[]) group by status
""")


async def orders_waiting(tx: Transaction, statuses: list[str]) -> dict[str, Waiting]:
    """Return the confirmed orders in each status; a status without orders is missing."""
    found = await tx.fetch_all(_ORDERS, statuses=statuses)
    return {status: Waiting(count, oldest) for status, count, oldest in found}


_QUOTES = Statement(
    "select count(*), min(created_at) as oldest from orders"
    " where kind = 'quote' and state = 'pending' and priced_at is null",
    Waiting,
)


async def quotes_waiting(tx: Transaction) -> Waiting:
    """Return the quotes that wait for a price."""
    return await tx.fetch_one(_QUOTES) or Waiting(0, None)


_RETURNS = Statement("select state, count(*), min(opened_at) from order_return where state <> 'closed' group by state")


async def returns_waiting(tx: Transaction) -> dict[str, Waiting]:
    """Return the returns that are open, and those that came back and are not credited in full, by state."""
    return {state: Waiting(count, oldest) for state, count, oldest in await tx.fetch_all(_RETURNS)}
