"""The SQL that lets numbers go on after a restore; across slices."""

from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class LastNumbers(Struct, frozen=True):
    """Where the restored data ends: its last change, and the last numbers given out."""

    until: datetime | None
    sequence: int
    invoice: int
    credit_note: int


_KEPT = Statement(
    """
    select (select at from audit_entry order by id desc limit 1) as until, event_sequence.last as sequence,
           invoice_number.last as invoice, credit_note_number.last as credit_note
    from event_sequence, invoice_number, credit_note_number
    for update of event_sequence, invoice_number, credit_note_number
    """,
    LastNumbers,
)


async def lock_numbers(tx: Transaction) -> LastNumbers:
    """Lock the counters, and return where the data ends."""
    return await tx.fetch_row(_KEPT)


# Including the numbers of orders and returns, which are sequences too. Jobs have ids that nobody else knows.
_SKIP_IDS = Statement("""
    select setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, start_value - 1) + :skip)
    from pg_sequences where :skip > 0 and schemaname = current_schema() and sequencename not like 'procrastinate%'
""")
_SKIP_EVENTS = Statement("update event_sequence set last = last + :skip")
_SET_INVOICE = Statement("update invoice_number set last = :last")
_SET_CREDIT_NOTE = Statement("update credit_note_number set last = :last")


async def skip_numbers(tx: Transaction, *, ids: int, sequences: int, last_invoice: int, last_credit_note: int) -> None:
    """Leave out so many ids of each table and sequences of events, and go on after these documents."""
    await tx.execute(_SKIP_IDS, skip=ids)
    await tx.execute(_SKIP_EVENTS, skip=sequences)
    await tx.execute(_SET_INVOICE, last=last_invoice)
    await tx.execute(_SET_CREDIT_NOTE, last=last_credit_note)


_CUSTOMERS = Statement("select id from customer order by id")


async def all_customers(tx: Transaction) -> list[int]:
    """Return the ids of all customers."""
    return [customer_id for (customer_id,) in await tx.fetch_all(_CUSTOMERS)]
