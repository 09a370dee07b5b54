"""The address book: addresses are added and deleted, never changed; orders keep their own copies."""

from dataclasses import dataclass
from datetime import datetime

import msgspec
from psycopg.types.json import Jsonb

from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.rows import execute, fetch_all, fetch_value
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class _AddressRow:
    id: int
    details: dict[str, str]

    def on_the_wire(self) -> SavedAddress:
        return msgspec.convert({**self.details, "id": self.id}, SavedAddress)


async def list_addresses(tx: Transaction, customer_id: int) -> list[SavedAddress]:
    """Return a customer's active addresses, oldest first."""
    rows = await fetch_all(
        tx,
        _AddressRow,
        "select id, details from address where customer_id = %s and deleted_at is null order by id",
        [customer_id],
    )
    return [row.on_the_wire() for row in rows]


async def add_address(tx: Transaction, customer_id: int, address: AddressDetails) -> SavedAddress:
    """Store an address and return it with its new id."""
    details = msgspec.to_builtins(address)
    new_id = await fetch_value(
        tx,
        "insert into address (customer_id, details) values (%s, %s) returning id",
        [customer_id, Jsonb(details)],
    )
    return msgspec.convert({**details, "id": new_id}, SavedAddress)


async def delete_address(tx: Transaction, customer_id: int, address_id: int, now: datetime) -> bool:
    """Hide one of a customer's addresses; tell whether it was there."""
    found = await execute(
        tx,
        "update address set deleted_at = %s where id = %s and customer_id = %s and deleted_at is null",
        [now, address_id, customer_id],
    )
    return found == 1


async def delete_old_addresses(tx: Transaction, before: datetime, most: int) -> int:
    """Delete addresses that customers deleted before a moment, the first ones first; return how many."""
    return await execute(
        tx,
        """
        delete from address where id in (
            select id from address where deleted_at < %s order by deleted_at limit %s for update skip locked
        )
        """,
        [before, most],
    )
