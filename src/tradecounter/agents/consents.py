"""Lets users allow agents to act for them, holds agents to their limits, ends that, and deletes what is old."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tradecounter.agents.queries import (
    AgentConsent,
    NewConsent,
    consents_without_giver,
    delete_old_consents,
    delete_unused_clients,
    earlier_consents,
    end_consent,
    find_consent,
    forget_address,
    insert_consent,
    lock_spending,
)
from tradecounter.agents.rules import DAYS, NEVER_ALLOWED_FOR
from tradecounter.audit.record import audit
from tradecounter.consent.rules import CODE_LIFETIME, KEPT_FOR
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import CONSENT_GIVERS
from tradecounter.identity.credentials import ExpiredCredentialError, LiveAgent
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields, not_found
from tradecounter.kit.money import NOTHING, in_pounds

_MOST = Decimal(10_000_000)  # pounds


async def allow_agent(
    tx: Transaction, new: NewConsent, user: CustomerUser, days: int, now: datetime, *, replaces: bool
) -> str:
    """Store what a user allows an agent for some days, and return the code that tells the agent.

    With `replaces`, it replaces what the user has allowed the agent before. Raises DomainError (invalid, forbidden).
    """
    if not user.has_role(*CONSENT_GIVERS):
        raise DomainError(Kind.FORBIDDEN, "only an owner or a developer of the account can allow this")
    _check(new, days)
    if replaces:
        for earlier in await earlier_consents(tx, new.client_id, new.customer_id, user.id, now):
            await end_agent(tx, earlier, "replaced by a new consent", now)
    expires_at = now + timedelta(days=days)
    consent_id, code = await insert_consent(tx, new, now, now + CODE_LIFETIME, expires_at)
    await forget_address(tx, new.client_id)
    after = {
        "name": new.name,
        "client_id": new.client_id,
        "customer_id": new.customer_id,
        "scopes": list(new.scopes),
        "order_limit": new.order_limit,
        "day_limit": new.day_limit,
        "expires_at": expires_at,
    }
    audit(tx, "agent.allow", f"agent/{consent_id}", now, after=after)
    queue(tx, "mail_agent_allowed", consent_id=consent_id)
    return code


async def fetch_agent(tx: Transaction, customer_id: int, consent_id: int, now: datetime) -> AgentConsent:
    """Return what a customer has allowed an agent, and not ended. Raises DomainError (not found)."""
    consent = await find_consent(tx, consent_id, now)
    if consent is None or consent.customer_id != customer_id or consent.ended_at is not None:
        raise not_found("agent", consent_id)
    return consent


async def revoke_agent(tx: Transaction, customer_id: int, consent_id: int, now: datetime) -> AgentConsent:
    """End what a customer allows an agent, in every process at once. Raises DomainError (not found)."""
    agent = await fetch_agent(tx, customer_id, consent_id, now)
    await end_agent(tx, agent, "revoked", now)
    return agent


async def end_agent(tx: Transaction, consent: AgentConsent, reason: str, now: datetime) -> None:
    """End a consent, unless it has ended."""
    if await end_consent(tx, consent.id, now):
        after: dict[str, Any] = {"customer_id": consent.customer_id, "reason": reason}
        audit(tx, "agent.revoke", f"agent/{consent.id}", now, after=after)


async def allowed_agent(tx: Transaction, consent_id: int, now: datetime) -> AgentConsent | None:
    """Return a consent that stands, of any customer, or None."""
    consent = await find_consent(tx, consent_id, now)
    return consent if consent is not None and consent.usable else None


def _check(new: NewConsent, days: int) -> None:
    wrong: list[FieldError] = []
    if not new.scopes:
        wrong.append(FieldError("read", "choose at least one"))
    if days not in DAYS:
        wrong.append(FieldError("days", f"must be one of {', '.join(map(str, DAYS))}"))
    if "order" in new.scopes:
        limits = {"order_limit": new.order_limit, "day_limit": new.day_limit}
        for name, limit in limits.items():
            if limit is None or not 0 < limit <= _MOST:
                wrong.append(FieldError(name, "must be an amount above £0 and at most £10,000,000"))
        if new.order_limit is not None and new.day_limit is not None and new.order_limit > new.day_limit:
            wrong.append(FieldError("day_limit", "must be at least the limit of one order"))
    if wrong:
        raise invalid_fields(wrong)


async def clean_up_agents(tx: Transaction, now: datetime) -> int:
    """Delete clients that nobody allows, and old consents and tokens; return how many.

    Consents that have ended with their users' rights are stored as ended, with an audit entry.
    """
    for consent in await consents_without_giver(tx, now):
        await end_agent(tx, consent, "its person may not give it any more", now)
    unused = now - NEVER_ALLOWED_FOR
    return await delete_old_consents(tx, now - KEPT_FOR, unused) + await delete_unused_clients(tx, unused)


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
