"""Ends what anybody could sign in with at once, when the database may have forgotten what ended."""

from datetime import datetime

from tradecounter.access.queries.links import delete_unused_links
from tradecounter.access.queries.sessions import set_ended_of_all
from tradecounter.db.transaction import Transaction


async def end_all_access(tx: Transaction, now: datetime) -> None:
    """End all sessions and all one-time links, of both sites."""
    await set_ended_of_all(tx, now)
    await delete_unused_links(tx)
