"""Deletes old changes: a cursor is good for KEEP_CHANGES."""

from datetime import datetime, timedelta

from tradecounter.db.transaction import Transaction
from tradecounter.storefront.changes.queries import delete_changes, mark_versions

_EVERY = timedelta(minutes=55)  # between marks
_MARGIN = timedelta(hours=1)  # clocks differ, and a process may show data that is minutes old


async def forget_catalogue_changes(tx: Transaction, now: datetime, keep: timedelta) -> int:
    """Delete the changes that no valid cursor needs, some hours after the last one expired; return how many."""
    await mark_versions(tx, now, now - _EVERY)
    return await delete_changes(tx, now - keep - _MARGIN)
