"""Blocks customers: their keys and tokens are rejected, and they cannot order; open orders stay."""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import Account, fetch_account, set_blocked
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.text import LONGEST_REASON


async def block_customer(tx: Transaction, customer_id: int, reason: str, now: datetime) -> Account:
    """Block a customer, in every process within five seconds.

    Raises DomainError: not found, invalid (no reason), conflict (already blocked).
    """
    reason = reason.strip()
    require_text("reason", reason, LONGEST_REASON)
    if not await set_blocked(tx, customer_id, now, reason):
        await fetch_account(tx, customer_id)
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} is already blocked")
    record_event(tx, "customer.blocked", f"customer/{customer_id}", now, customer_id, {"reason": reason})
    after = {"blocked": True, "blocked_reason": reason}
    audit(tx, "customer.block", f"customer/{customer_id}", now, before={"blocked": False}, after=after)
    return await fetch_account(tx, customer_id)


async def unblock_customer(tx: Transaction, customer_id: int, now: datetime) -> Account:
    """Let a blocked customer's keys and tokens work again. Raises DomainError: not found, conflict (not blocked)."""
    before = await fetch_account(tx, customer_id)
    if not await set_blocked(tx, customer_id, None, None):
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} is not blocked")
    record_event(tx, "customer.changed", f"customer/{customer_id}", now, customer_id, {"blocked": False})
    old = {"blocked": True, "blocked_reason": before.blocked_reason}
    audit(tx, "customer.unblock", f"customer/{customer_id}", now, before=old, after={"blocked": False})
    return await fetch_account(tx, customer_id)
