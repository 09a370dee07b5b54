"""Creates and disables customers' API keys."""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import PREFIX_LENGTH
from tradecounter.identity.queries.api_keys import KeyRecord, NewKey, add_key, disable_key, key_of
from tradecounter.kit.errors import not_found, require_text

_LONGEST_NAME = 200


async def create_key(tx: Transaction, customer_id: int, name: str, now: datetime) -> NewKey:
    """Create a key for a customer, and have its owners told. Raises DomainError (invalid)."""
    require_text("name", name, _LONGEST_NAME)
    new = await add_key(tx, customer_id, name, now)
    after = {"id": new.id, "name": name, "prefix": new.key[:PREFIX_LENGTH]}
    audit(tx, "key.create", f"customer/{customer_id}", now, after=after)
    await queue(tx, "mail_key_added", key_id=new.id)
    return new


async def fetch_key(tx: Transaction, customer_id: int, key_id: int) -> KeyRecord:
    """Return one of a customer's keys. Raises DomainError (not found)."""
    key = await key_of(tx, customer_id, key_id)
    if key is None:
        raise not_found("key", key_id)
    return key


async def end_key(tx: Transaction, key_id: int, now: datetime) -> KeyRecord:
    """Disable a key, in every process within a few seconds. Raises DomainError (not found)."""
    key = await disable_key(tx, key_id, now)
    if key is None:
        raise not_found("key", key_id)
    after = {"id": key.id, "name": key.name, "disabled_at": key.disabled_at}
    audit(tx, "key.disable", f"customer/{key.customer_id}", now, after=after)
    return key


async def end_key_of(tx: Transaction, customer_id: int, key_id: int, now: datetime) -> KeyRecord:
    """Disable one of a customer's keys. Raises DomainError (not found)."""
    await fetch_key(tx, customer_id, key_id)
    return await end_key(tx, key_id, now)
