"""Deletes links, sessions, browsers, requests for links, and wrong passwords that are old."""

from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_OLD_LINKS = Statement("delete from one_time_link where expires_at < :before")
_OLD_SESSIONS = Statement("delete from session where seen_at < :before or ended_at < :before")
_OLD_REQUESTS = Statement("delete from forgotten_password where created_at < :before")
_OLD_BROWSERS = Statement("delete from known_browser where seen_at < :before")
_OLD_GUESSES = Statement("delete from password_failure where failed_at < :before")


async def delete_old_access(tx: Transaction, *, ended: datetime, unused: datetime, failed: datetime) -> int:
    """Delete what is from before three moments; return how many.

    These are links and sessions that have `ended`, with requests for a password; browsers that are `unused`; and wrong
    passwords that have `failed`.
    """
    return (
        await tx.execute(_OLD_LINKS, before=ended)
        + await tx.execute(_OLD_SESSIONS, before=ended)
        + await tx.execute(_OLD_REQUESTS, before=ended)
        + await tx.execute(_OLD_BROWSERS, before=unused)
        + await tx.execute(_OLD_GUESSES, before=failed)
    )
