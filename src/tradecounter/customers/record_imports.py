"""Records the events on customers that an import or its roll-back added, changed or deleted."""

from datetime import datetime
from typing import Any

from tradecounter.customers.queries.importing import (
    customers_to_restore,
    delete_added,
    existing_customers,
    imported_customers,
)
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import NewEvent, record_events


async def record_imported_customers(tx: Transaction, import_id: int, _changed: int, now: datetime) -> None:
    """Record what an import did to customers."""
    found = await imported_customers(tx, import_id)
    record_events(tx, "customer.created", [_event(each.id) for each in found if each.is_new], now)
    changed = [_event(each.id, changed=each.fields) for each in found if not each.is_new]
    record_events(tx, "customer.changed", changed, now)


async def undo_imported_customers(tx: Transaction, now: datetime) -> None:
    """Delete what an import added, as `delete_added` does, and record what its roll-back does to customers."""
    found = await customers_to_restore(tx)
    await delete_added(tx)
    kept = await existing_customers(tx, [each.id for each in found if each.is_new])
    changed = [
        _event(each.id, changed=["deleted"] if each.is_new else each.fields) for each in found if each.id not in kept
    ]
    record_events(tx, "customer.changed", changed, now)


def _event(customer_id: int, **data: Any) -> NewEvent:
    return NewEvent(f"customer/{customer_id}", customer_id, {"customer_id": customer_id, **data})
