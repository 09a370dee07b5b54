"""Holds agents to the limits of their consent."""

from datetime import datetime
from decimal import Decimal

from tradecounter.agents.queries.consents import AgentConsent, lock_spending
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import ExpiredCredentialError, LiveAgent
from tradecounter.kit.money import NOTHING, in_pounds


async def lock_agent(tx: Transaction, agent: LiveAgent, now: datetime) -> AgentConsent:
    """Make other orders of an agent, and its revocation, wait until the transaction ends; return its consent.

    Call this before any other lock. Raises ExpiredCredentialError if it was revoked meanwhile.
    """
    consent = await lock_spending(tx, agent, now)
    if consent is None or not consent.usable:
        raise ExpiredCredentialError
    return consent


def limit_exceeded(consent: AgentConsent, gross: Decimal) -> str | None:
    """Return in words which limit of its consent an agent's order exceeds, or None.

    `gross` is its total in pounds. A day begins at midnight in the United Kingdom; orders that people have approved do
    not count towards it.
    """
    order_limit, day_limit = consent.order_limit or NOTHING, consent.day_limit or NOTHING
    if gross > order_limit:
        return f"the limit of {in_pounds(order_limit)} for one order"
    if consent.spent_today + gross > day_limit:
        return f"the limit of {in_pounds(day_limit)} a day: {in_pounds(consent.spent_today)} is spent today"
    return None
