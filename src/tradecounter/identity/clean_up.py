"""Deleting what no longer matters to anybody."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.identity.failures import delete_ended_blocks, delete_failures
from tradecounter.identity.lockout import WINDOW as FAILURE_WINDOW
from tradecounter.identity.oauth.access_tokens import delete_expired_tokens
from tradecounter.identity.rate_limit import WINDOW as RATE_WINDOW
from tradecounter.identity.rate_limit import window_start
from tradecounter.identity.request_counts import delete_counts


async def clean_up_identity(tx: Transaction, now: datetime) -> int:
    """Delete old tokens, failures, blocks and counts; return how many rows.

    Counts stay for one more window: a process may be about to add to the last one.
    """
    return (
        await delete_expired_tokens(tx, now)
        + await delete_failures(tx, now - FAILURE_WINDOW)
        + await delete_ended_blocks(tx, now)
        + await delete_counts(tx, window_start(now) - RATE_WINDOW)
    )
