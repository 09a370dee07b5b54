"""Records the events on customers that an import or its roll-back added, changed or deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tradecounter.customers.queries.importing import ImportedCustomer, existing_customers, imported_customers
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import NewEvent, record_events


async def record_imported_customers(tx: Transaction, import_id: int, now: datetime) -> None:
    """Record what an import did to customers."""
    found = await imported_customers(tx, import_id)
    record_events(tx, "customer.created", [_event(each.id) for each in found if each.is_new], now)
    changed = [_event(each.id, changed=each.fields) for each in found if not each.is_new]
    record_events(tx, "customer.changed", changed, now)


async def record_restored_customers(tx: Transaction, found: Sequence[ImportedCustomer], now: datetime) -> None:
    """Record what a roll-back did to the customers that it found: those that the import had added are deleted."""
    kept = await existing_customers(tx, [each.id for each in found if each.is_new])
    changed = [
        _event(each.id, changed=["deleted"] if each.is_new else each.fields) for each in found if each.id not in kept
    ]
    record_events(tx, "customer.changed", changed, now)


def _event(customer_id: int, **data: Any) -> NewEvent:
    return NewEvent(f"customer/{customer_id}", customer_id, {"customer_id": customer_id, **data})
