"""The address book: addresses are added and deleted, never changed; orders keep their own copies."""

from dataclasses import dataclass
from datetime import datetime

import msgspec
from psycopg.types.json import Jsonb

from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class _AddressRow:
    id: int
    details: dict[str, str]

    def on_the_wire(self) -> SavedAddress:
        return msgspec.convert({**self.details, "id": self.id}, SavedAddress)


_LIST_ADDRESSES = Statement(
    "select id, details from address where customer_id = :customer_id and deleted_at is null order by id", _AddressRow
)


async def list_addresses(tx: Transaction, customer_id: int) -> list[SavedAddress]:
    """Return a customer's active addresses, oldest first."""
    rows = await tx.fetch_all(_LIST_ADDRESSES, customer_id=customer_id)
    return [row.on_the_wire() for row in rows]


_ADD_ADDRESS = Statement("insert into address (customer_id, details) values (:customer_id, :details) returning id")


async def add_address(tx: Transaction, customer_id: int, address: AddressDetails) -> SavedAddress:
    """Store an address and return it with its new id."""
    details = msgspec.to_builtins(address)
    new_id = await tx.fetch_value(_ADD_ADDRESS, customer_id=customer_id, details=Jsonb(details))
    return msgspec.convert({**details, "id": new_id}, SavedAddress)


_DELETE_ADDRESS = Statement(
    "update address set deleted_at = :now where id = :address_id and customer_id = :customer_id and deleted_at is null"
)


async def delete_address(tx: Transaction, customer_id: int, address_id: int, now: datetime) -> bool:
    """Hide one of a customer's addresses; tell whether it was there."""
    found = await tx.execute(_DELETE_ADDRESS, now=now, address_id=address_id, customer_id=customer_id)
    return found == 1


_DELETE_OLD_ADDRESSES = Statement("""
    delete from address where id in (
        select id from address where deleted_at < :before order by deleted_at limit :most for update skip locked
    )
""")


async def delete_old_addresses(tx: Transaction, before: datetime, most: int) -> int:
    """Delete addresses that customers deleted before a moment, the first ones first; return how many."""
    return await tx.execute(_DELETE_OLD_ADDRESSES, before=before, most=most)
