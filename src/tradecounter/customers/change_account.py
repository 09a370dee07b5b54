"""Blocks and unblocks customers, and changes their saved addresses."""

from datetime import datetime

from msgspec.structs import asdict

from tradecounter.audit.record import audit, audit_edit
from tradecounter.customers.queries.accounts import fetch_account, lock_account, set_blocked
from tradecounter.customers.queries.addresses import add_address, delete_address, lock_address, set_address
from tradecounter.customers.settings import Account
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.kit.errors import DomainError, Kind, not_found, require_text
from tradecounter.kit.text import LONGEST_REASON


def record_customer_change(tx: Transaction, customer_id: int, changed: list[str], now: datetime) -> None:
    """Record the event for a change of a customer; `changed` names the fields."""
    data = {"customer_id": customer_id, "changed": changed}
    record_event(tx, "customer.changed", f"customer/{customer_id}", now, customer_id, data)


async def block_customer(tx: Transaction, customer_id: int, reason: str, now: datetime) -> Account:
    """Block a customer, in every process within five seconds.

    Raises DomainError: not found, invalid (no reason), conflict (already blocked).
    """
    reason = require_text("reason", reason, LONGEST_REASON)
    if not await set_blocked(tx, customer_id, now, reason):
        await fetch_account(tx, customer_id)
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} is already blocked")
    data = {"customer_id": customer_id, "reason": reason}
    record_event(tx, "customer.blocked", f"customer/{customer_id}", now, customer_id, data)
    after = {"blocked": True, "blocked_reason": reason}
    audit(tx, "customer.block", f"customer/{customer_id}", now, before={"blocked": False}, after=after)
    return await fetch_account(tx, customer_id)


async def unblock_customer(tx: Transaction, customer_id: int, now: datetime) -> Account:
    """Let a blocked customer's keys and tokens work again. Raises DomainError: not found, conflict (not blocked)."""
    before = await lock_account(tx, customer_id, to_change=True)
    if not await set_blocked(tx, customer_id, None, None):
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} is not blocked")
    record_customer_change(tx, customer_id, ["blocked"], now)
    old = {"blocked": True, "blocked_reason": before.blocked_reason}
    audit(tx, "customer.unblock", f"customer/{customer_id}", now, before=old, after={"blocked": False})
    return await fetch_account(tx, customer_id)


async def save_address(tx: Transaction, customer_id: int, address: AddressDetails, now: datetime) -> SavedAddress:
    """Store an address and return it with its new id."""
    saved = await add_address(tx, customer_id, address)
    audit(tx, "address.create", f"customer/{customer_id}", now, after=asdict(saved))
    record_customer_change(tx, customer_id, ["addresses"], now)
    return saved


async def change_address(
    tx: Transaction, customer_id: int, address_id: int, address: AddressDetails, now: datetime
) -> SavedAddress:
    """Replace one of a customer's addresses, which keeps its id; return it. Raises DomainError (not found)."""
    before = await lock_address(tx, customer_id, address_id)
    await set_address(tx, address_id, address)
    saved = SavedAddress(**asdict(address), id=address_id)
    old, new = asdict(before), asdict(saved)
    if audit_edit(tx, "address.change", f"customer/{customer_id}", now, before=old, after=new):
        record_customer_change(tx, customer_id, ["addresses"], now)
    return saved


async def remove_address(tx: Transaction, customer_id: int, address_id: int, now: datetime) -> None:
    """Delete one of a customer's addresses. Raises DomainError (not found)."""
    if not await delete_address(tx, customer_id, address_id, now):
        raise not_found("address", address_id)
    audit(tx, "address.delete", f"customer/{customer_id}", now, before={"id": address_id})
    record_customer_change(tx, customer_id, ["addresses"], now)
