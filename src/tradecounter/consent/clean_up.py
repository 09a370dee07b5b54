"""Deletes what is no longer needed."""

from datetime import datetime

from tradecounter.consent.queries.grants import delete_old_grants
from tradecounter.consent.queries.keys import delete_old_keys
from tradecounter.consent.rules import KEPT_FOR, KEY_PUBLIC_FOR
from tradecounter.db.transaction import Transaction


async def clean_up_consent(tx: Transaction, now: datetime) -> int:
    """Delete old keys, refresh tokens, codes and grants; return how many."""
    return await delete_old_keys(tx, now - KEY_PUBLIC_FOR) + await delete_old_grants(tx, now, now - KEPT_FOR)
