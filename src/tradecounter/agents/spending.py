"""Holds agents to the limits of their consent."""

from datetime import datetime
from decimal import Decimal

from tradecounter.agents.queries.consents import find_consent, lock_spending
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import ExpiredCredentialError, LiveAgent
from tradecounter.kit.money import NOTHING, in_pounds


async def lock_agent(tx: Transaction, agent: LiveAgent, now: datetime) -> None:
    """Make other orders of an agent, and its revocation, wait until the transaction ends.

    Call this before any other lock. Raises ExpiredCredentialError if it was revoked meanwhile.
    """
    consent = await lock_spending(tx, agent, now)
    if consent is None or not consent.usable:
        raise ExpiredCredentialError


async def limit_exceeded(tx: Transaction, agent: LiveAgent, gross: Decimal, now: datetime) -> str | None:
    """Return in words which limit an order exceeds, or None.

    `gross` is its total in pounds. The agent is locked. A day begins at midnight in the United Kingdom; orders that
    people have approved do not count towards it.
    """
    order_limit, day_limit = agent.order_limit or NOTHING, agent.day_limit or NOTHING
    if gross > order_limit:
        return f"the limit of {in_pounds(order_limit)} for one order"
    consent = await find_consent(tx, agent.id, now)
    spent = NOTHING if consent is None else consent.spent_today
    if spent + gross > day_limit:
        return f"the limit of {in_pounds(day_limit)} a day: {in_pounds(spent)} is spent today"
    return None
