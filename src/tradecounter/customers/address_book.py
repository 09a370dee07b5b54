"""Adds, changes and deletes a customer's saved addresses."""

from datetime import datetime

from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.customers.change_account import record_customer_changes
from tradecounter.customers.queries.addresses import add_address, delete_address, find_address, set_address
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found


async def save_address(tx: Transaction, customer_id: int, address: AddressDetails, now: datetime) -> SavedAddress:
    """Store an address and return it with its new id."""
    saved = await add_address(tx, customer_id, address)
    audit(tx, "address.create", f"customer/{customer_id}", now, after=asdict(saved))
    record_customer_changes(tx, [customer_id], ["addresses"], now)
    return saved


async def change_address(
    tx: Transaction, customer_id: int, address_id: int, address: AddressDetails, now: datetime
) -> SavedAddress:
    """Replace one of a customer's addresses, which keeps its id; return it. Raises DomainError (not found)."""
    before = await find_address(tx, customer_id, address_id)
    if before is None or not await set_address(tx, customer_id, address_id, address):
        raise not_found("address", address_id)
    saved = SavedAddress(**asdict(address), id=address_id)
    old, new = asdict(before), asdict(saved)
    changed = {name for name in new if old[name] != new[name]}
    if not changed:
        return saved
    audit(
        tx,
        "address.change",
        f"customer/{customer_id}",
        now,
        before={"id": address_id, **{name: old[name] for name in changed}},
        after={"id": address_id, **{name: new[name] for name in changed}},
    )
    record_customer_changes(tx, [customer_id], ["addresses"], now)
    return saved


async def remove_address(tx: Transaction, customer_id: int, address_id: int, now: datetime) -> None:
    """Delete one of a customer's addresses. Raises DomainError (not found)."""
    if not await delete_address(tx, customer_id, address_id, now):
        raise not_found("address", address_id)
    audit(tx, "address.delete", f"customer/{customer_id}", now, before={"id": address_id})
    record_customer_changes(tx, [customer_id], ["addresses"], now)
