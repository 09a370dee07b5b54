"""Registers and disables OAuth applications, and revokes their tokens for a customer."""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.queries.access_tokens import revoke_tokens
from tradecounter.identity.oauth.queries.applications import NewApplication, add_application, disable_application


async def register_application(tx: Transaction, name: str, now: datetime) -> NewApplication:
    """Register an application."""
    new = await add_application(tx, name, now)
    audit(tx, "application.create", f"application/{new.client_id}", now, after={"name": name})
    return new


async def end_application(tx: Transaction, client_id: str, now: datetime) -> bool:
    """Disable an application and its tokens, in every process within a few seconds; return whether it exists."""
    found = await disable_application(tx, client_id, now)
    if found:
        audit(tx, "application.disable", f"application/{client_id}", now, after={"disabled": True})
    return found


async def revoke_access(tx: Transaction, client_id: str, customer_id: int, now: datetime) -> int:
    """Revoke an application's tokens and consent for a customer; return the number of tokens."""
    count = await revoke_tokens(tx, client_id, customer_id, now)
    after = {"customer_id": customer_id, "tokens": count}
    audit(tx, "application.revoke", f"application/{client_id}", now, after=after)
    return count
