"""Deletes what is no longer needed."""

from datetime import datetime, timedelta

from tradecounter.access.queries.browsers import delete_old_browsers
from tradecounter.access.queries.forgotten import delete_old_requests
from tradecounter.access.queries.guesses import delete_old_guesses
from tradecounter.access.queries.links import delete_old_links
from tradecounter.access.queries.sessions import delete_old_sessions
from tradecounter.access.rules import GUESSING_WINDOW
from tradecounter.db.transaction import Transaction

_KEPT = timedelta(days=30)  # links and ended sessions, so that support can see what became of one
_BROWSER_KEPT = timedelta(days=400)  # the longest that a browser keeps a cookie


async def clean_up_access(tx: Transaction, now: datetime) -> int:
    """Delete old links, sessions, browsers and wrong passwords; return how many."""
    return (
        await delete_old_links(tx, now - _KEPT)
        + await delete_old_sessions(tx, now - _KEPT)
        + await delete_old_browsers(tx, now - _BROWSER_KEPT)
        + await delete_old_requests(tx, now - _KEPT)
        + await delete_old_guesses(tx, now - GUESSING_WINDOW)
    )
