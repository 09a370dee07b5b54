"""Holds agents to what one order and one day may cost."""

from datetime import datetime
from decimal import Decimal

from tradecounter.agents.queries.consents import insert_agent_order, lock_spending, spent_on
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import ExpiredCredentialError
from tradecounter.identity.live_agent import LiveAgent
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import NOTHING, in_pounds


async def lock_agent(tx: Transaction, agent: LiveAgent, now: datetime) -> None:
    """Make other orders of an agent, and its revocation, wait until the transaction ends.

    Call this before any other lock. Raises ExpiredCredentialError if it was revoked meanwhile.
    """
    consent = await lock_spending(tx, agent, now)
    if consent is None or not consent.usable:
        raise ExpiredCredentialError


async def limit_exceeded(tx: Transaction, agent: LiveAgent, gross: Decimal, now: datetime) -> str | None:
    """Return which limit an order with this total exceeds, in words, or None. The agent is locked.

    A day is one in the United Kingdom; what people have approved does not count.
    """
    if gross > (agent.order_limit or NOTHING):
        return f"its limit of {in_pounds(agent.order_limit or NOTHING)} for one order"
    spent = await spent_on(tx, agent, uk_date(now))
    if spent + gross > (agent.day_limit or NOTHING):
        return f"its limit of {in_pounds(agent.day_limit or NOTHING)} for one day, of which {in_pounds(spent)} is used"
    return None


async def note_order(tx: Transaction, agent: LiveAgent, order_id: int, gross: Decimal, now: datetime) -> None:
    """Count an order towards the day's limit."""
    await insert_agent_order(tx, agent, order_id, uk_date(now), gross)
