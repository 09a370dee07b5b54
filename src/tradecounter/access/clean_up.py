"""Deletes what is no longer needed."""

from datetime import datetime, timedelta

from tradecounter.access.queries.guesses import delete_old_guesses
from tradecounter.access.queries.links import delete_old_links
from tradecounter.access.rules import GUESSING_WINDOW
from tradecounter.db.transaction import Transaction

_KEPT = timedelta(days=30)  # links, so that support can see what became of one


async def clean_up_access(tx: Transaction, now: datetime) -> int:
    """Delete old links and wrong passwords; return how many."""
    return await delete_old_links(tx, now - _KEPT) + await delete_old_guesses(tx, now - GUESSING_WINDOW)
