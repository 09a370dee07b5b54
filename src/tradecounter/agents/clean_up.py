"""Deletes what agents no longer need."""

from datetime import datetime

from tradecounter.agents.queries.clients import delete_unused_clients
from tradecounter.agents.queries.consents import delete_old_consents
from tradecounter.agents.rules import NEVER_ALLOWED_FOR
from tradecounter.consent.rules import KEPT_FOR
from tradecounter.db.transaction import Transaction


async def clean_up_agents(tx: Transaction, now: datetime) -> int:
    """Delete clients that nobody allows, and old consents and tokens; return how many."""
    unused = now - NEVER_ALLOWED_FOR
    return await delete_old_consents(tx, now - KEPT_FOR, unused) + await delete_unused_clients(tx, unused)
