"""Adds and changes customers."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import Account, AccountChange, add_account, edit_account, lock_account
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import NewEvent, record_events
from tradecounter.kit.errors import ErrorCollector, require_text

_LONGEST_NAME = 200


async def create_customer(tx: Transaction, change: AccountChange, now: datetime) -> Account:
    """Add a customer. Raises DomainError: conflict (the e-mail is taken) or invalid."""
    _check(change)
    account = await add_account(tx, change)
    _record(tx, "customer.create", None, account, now)
    return account


async def change_customer(tx: Transaction, customer_id: int, change: AccountChange, now: datetime) -> Account:
    """Change a customer. Raises DomainError: not found, conflict (the e-mail is taken) or invalid."""
    _check(change)
    before = await lock_account(tx, customer_id)
    account = await edit_account(tx, customer_id, change)
    _record(tx, "customer.edit", before, account, now)
    return account


def _check(change: AccountChange) -> None:
    collector = ErrorCollector()
    for field in ("first_name", "last_name"):
        name = getattr(change, field)
        with collector.collecting():
            if isinstance(name, str):
                require_text(field, name, _LONGEST_NAME)
    collector.check()


def _record(tx: Transaction, action: str, before: Account | None, after: Account, now: datetime) -> None:
    old, new = {} if before is None else asdict(before), asdict(after)
    audit(tx, action, f"customer/{after.id}", now, before=old, after=new)
    changed = [name for name in new if name not in old or old[name] != new[name]]
    record_customer_changes(tx, [after.id], changed, now)


def record_customer_changes(tx: Transaction, customer_ids: Iterable[int], changed: list[str], now: datetime) -> None:
    """Record the events for changes of customers; `changed` names the fields."""
    events = [NewEvent(f"customer/{each}", each, {"customer_id": each, "changed": changed}) for each in customer_ids]
    record_events(tx, "customer.changed", events, now)
