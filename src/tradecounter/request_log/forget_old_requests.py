"""Deletes entries of the request log that are a week old."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.request_log.queries import forget_requests
from tradecounter.request_log.rules import KEPT_FOR

_BATCH = 5_000  # small rows that nobody else changes


async def forget_old_requests(tx: Transaction, now: datetime) -> int:
    """Delete a batch of old entries; return how many."""
    return await forget_requests(tx, now - KEPT_FOR, _BATCH)
