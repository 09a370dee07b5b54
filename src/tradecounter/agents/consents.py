"""Lets users allow agents to act for them, ends that, and deletes what is old."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tradecounter.agents.queries.clients import delete_unused_clients, forget_address
from tradecounter.agents.queries.consents import (
    AgentConsent,
    NewConsent,
    consents_without_giver,
    delete_old_consents,
    earlier_consents,
    end_consent,
    find_consent,
    insert_consent,
)
from tradecounter.agents.rules import DAYS, NEVER_ALLOWED_FOR
from tradecounter.audit.record import audit
from tradecounter.consent.rules import CODE_LIFETIME, GIVERS, KEPT_FOR
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields, not_found

_MOST = Decimal(10_000_000)  # pounds


async def allow_agent(
    tx: Transaction, new: NewConsent, user: CustomerUser, days: int, now: datetime, *, replaces: bool
) -> str:
    """Store what a user allows an agent for some days, and return the code that tells the agent.

    With `replaces`, it replaces what the user has allowed the agent before. Raises DomainError (invalid, forbidden).
    """
    if not user.has_role(*GIVERS):
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

    Consents whose users may not give them any more end, so that they do not come back with a user's rights.
    """
    for consent in await consents_without_giver(tx, now):
        await end_agent(tx, consent, "its person may not give it any more", now)
    unused = now - NEVER_ALLOWED_FOR
    return await delete_old_consents(tx, now - KEPT_FOR, unused) + await delete_unused_clients(tx, unused)
