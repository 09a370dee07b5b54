"""Notes about orders: those of staff, and those of the customers' users."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_ADD_NOTE = Statement(
    "insert into order_note (order_id, noted_at, noted_by, text, by_customer)"
    " values (:order_id, :now, :noted_by, :text, :by_customer)"
)


async def insert_note(
    tx: Transaction, order_id: int, noted_by: str, text: str, now: datetime, *, by_customer: bool = False
) -> None:
    """Store a note about an order, of the reseller or of a user of the customer."""
    await tx.execute(_ADD_NOTE, order_id=order_id, noted_by=noted_by, text=text, now=now, by_customer=by_customer)


class OrderNote(Struct, frozen=True):
    """A note about an order, of the reseller or of a user of the customer."""

    at: datetime
    by: str
    text: str


_NOTES = Statement(
    "select order_id, noted_at, noted_by, text from order_note where order_id = any(:order_ids::bigint[]) order by id"
)


async def notes_of(tx: Transaction, order_ids: Sequence[int]) -> dict[int, list[OrderNote]]:
    """Return the notes about orders by the orders' ids, oldest first."""
    notes: dict[int, list[OrderNote]] = {order_id: [] for order_id in order_ids}
    for order_id, *note in await tx.fetch_all(_NOTES, order_ids=list(order_ids)):
        notes[order_id].append(OrderNote(*note))
    return notes


_OWN_NOTES = Statement(
    "select noted_at as at, noted_by as by, text from order_note"
    " where order_id = :order_id and by_customer order by id",
    OrderNote,
)


async def own_notes_of(tx: Transaction, order_id: int) -> list[OrderNote]:
    """Return the notes that the customer's own users have made about an order."""
    return await tx.fetch_all(_OWN_NOTES, order_id=order_id)


_COPY_OWN_NOTES = Statement("""
    insert into order_note (order_id, noted_at, noted_by, text, by_customer)
    select :to, noted_at, noted_by, text, true from order_note where order_id = :order_id and by_customer order by id
""")


async def copy_own_notes(tx: Transaction, order_id: int, to: int) -> None:
    """Copy the notes that the customer's users have made about an order to another order."""
    await tx.execute(_COPY_OWN_NOTES, order_id=order_id, to=to)
