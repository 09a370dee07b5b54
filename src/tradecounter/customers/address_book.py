"""Adds and deletes a customer's saved addresses."""

from datetime import datetime

from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.customers.change_account import record_customer_changes
from tradecounter.customers.queries.addresses import add_address, delete_address
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found


async def save_address(tx: Transaction, customer_id: int, address: AddressDetails, now: datetime) -> SavedAddress:
    """Store an address and return it with its new id."""
    saved = await add_address(tx, customer_id, address)
    audit(tx, "address.create", f"customer/{customer_id}", now, after=asdict(saved))
    record_customer_changes(tx, [customer_id], ["addresses"], now)
    return saved


async def remove_address(tx: Transaction, customer_id: int, address_id: int, now: datetime) -> None:
    """Delete one of a customer's addresses. Raises DomainError (not found)."""
    if not await delete_address(tx, customer_id, address_id, now):
        raise not_found("address")
    audit(tx, "address.delete", f"customer/{customer_id}", now, before={"id": address_id})
    record_customer_changes(tx, [customer_id], ["addresses"], now)
