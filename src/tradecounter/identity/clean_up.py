"""Deletes expired tokens, old failures, ended blocks and old request counts."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.identity.lockout import FAILURE_WINDOW
from tradecounter.identity.oauth.queries.access_tokens import delete_expired_tokens
from tradecounter.identity.queries.limits import delete_old
from tradecounter.identity.rate_limit import RATE_WINDOW, window_start


async def clean_up_identity(tx: Transaction, now: datetime) -> int:
    """Delete what has expired; return the number of deleted rows."""
    counted = window_start(now) - RATE_WINDOW  # processes may still add to the previous window
    return await delete_expired_tokens(tx, now) + await delete_old(
        tx, failed=now - FAILURE_WINDOW, ended=now, counted=counted
    )
