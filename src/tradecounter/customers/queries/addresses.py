"""The address book. Orders keep their own copies of addresses."""

from datetime import datetime
from typing import Any

import msgspec

from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found


def _saved(address_id: int, details: dict[str, Any]) -> SavedAddress:
    return msgspec.convert({**details, "id": address_id}, SavedAddress)


_LIST_ADDRESSES = Statement(
    "select id as address_id, details from address where customer_id = :customer_id and deleted_at is null"
    " and (:changed_since::timestamptz is null or changed_at >= :changed_since) order by id",
    _saved,
)


async def list_addresses(
    tx: Transaction, customer_id: int, changed_since: datetime | None = None
) -> list[SavedAddress]:
    """Return a customer's active addresses, oldest first."""
    return await tx.fetch_all(_LIST_ADDRESSES, customer_id=customer_id, changed_since=changed_since)


_ONE = (
    "select id as address_id, details from address where id = :id and customer_id = :customer_id and deleted_at is null"
)
_FIND_ADDRESS = Statement(_ONE, _saved)
_LOCK_ADDRESS = Statement(f"{_ONE} for no key update", _saved)


async def find_address(tx: Transaction, customer_id: int, address_id: int) -> SavedAddress | None:
    """Return one of a customer's active addresses, or None."""
    return await tx.find_row(_FIND_ADDRESS, customer_id=customer_id, id=address_id)


async def lock_address(tx: Transaction, customer_id: int, address_id: int) -> SavedAddress:
    """Return an active address of a customer, locked until the transaction ends. Raises DomainError (not found)."""
    address = await tx.find_row(_LOCK_ADDRESS, customer_id=customer_id, id=address_id)
    return or_not_found(address, "address", address_id)


_ADD_ADDRESS = Statement("insert into address (customer_id, details) values (:customer_id, :details) returning id")


async def add_address(tx: Transaction, customer_id: int, address: AddressDetails) -> SavedAddress:
    """Store an address and return it with its new id."""
    details = msgspec.to_builtins(address)
    new_id = await tx.fetch_value(_ADD_ADDRESS, customer_id=customer_id, details=json_of(details))
    return _saved(new_id, details)


_SET_ADDRESS = Statement("update address set details = :details where id = :address_id")


async def set_address(tx: Transaction, address_id: int, address: AddressDetails) -> None:
    """Replace an address."""
    await tx.execute(_SET_ADDRESS, details=json_of(address), address_id=address_id)


_DELETE_ADDRESS = Statement(
    "update address set deleted_at = :now where id = :address_id and customer_id = :customer_id and deleted_at is null"
)


async def delete_address(tx: Transaction, customer_id: int, address_id: int, now: datetime) -> bool:
    """Hide one of a customer's addresses; return whether it existed."""
    count = await tx.execute(_DELETE_ADDRESS, now=now, address_id=address_id, customer_id=customer_id)
    return count == 1


_DELETE_OLD_ADDRESSES = Statement("""
    delete from address where id in (
        select id from address where deleted_at < :before order by deleted_at limit :most for update skip locked
    )
""")


async def delete_old_addresses(tx: Transaction, before: datetime, most: int) -> int:
    """Delete the rows of addresses that customers deleted before a moment, oldest first; return their number."""
    return await tx.execute(_DELETE_OLD_ADDRESSES, before=before, most=most)
