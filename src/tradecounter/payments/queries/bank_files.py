"""Imported bank files, and the lines that their roll-back changes."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.wire import Moment, Timed
from tradecounter.payments.queries.bank_lines import State


class StoredFile(Timed, Struct, frozen=True, kw_only=True):
    """An imported bank file; the counts are those of its import."""

    id: int
    name: str
    at: Moment
    by: str
    lines: int
    recorded: int
    payments_out: int
    repeated: int
    unplaced: int
    rolled_back_at: Moment | None


_FILE = SQL(
    "select id, name, at, made_by as by, lines, recorded, payments_out, repeated, unplaced, rolled_back_at"
    " from bank_file"
)
_FILES = Statement(
    SQL(
        "{} where (:before::bigint is null or id < :before)"
        " and (:changed_since::timestamptz is null or greatest(at, rolled_back_at) >= :changed_since)"
        " order by id desc limit :most"
    ).format(_FILE),
    StoredFile,
)
_THE_FILE = Statement(SQL("{} where id = :file_id").format(_FILE), StoredFile)
_LOCK_FILE = Statement(SQL("{} where id = :file_id for update").format(_FILE), StoredFile)


async def list_bank_files(
    tx: Transaction, most: int, *, before: int | None = None, changed_since: datetime | None = None
) -> list[StoredFile]:
    """Return bank files, the newest first; with `before`, those with a lower id.

    With `changed_since`, those that were imported or rolled back then or later.
    """
    return await tx.fetch_all(_FILES, most=most, before=before, changed_since=changed_since)


async def fetch_bank_file(tx: Transaction, file_id: int) -> StoredFile:
    """Return a bank file. Raises DomainError (not found)."""
    row = await tx.find_row(_THE_FILE, file_id=file_id)
    return or_not_found(row, "bank file", file_id)


async def lock_bank_file(tx: Transaction, file_id: int) -> StoredFile:
    """Return a bank file, and lock it until the transaction ends. Raises DomainError (not found)."""
    row = await tx.find_row(_LOCK_FILE, file_id=file_id)
    return or_not_found(row, "bank file", file_id)


_ADD_FILE = Statement("""
    insert into bank_file (name, at, made_by, lines, recorded, payments_out, repeated, unplaced)
    values (:name, :at, :by, 0, 0, 0, 0, 0) returning id
""")
_SET_COUNTS = Statement("""
    update bank_file set lines = :lines, recorded = :recorded, payments_out = :payments_out, repeated = :repeated,
           unplaced = :unplaced
    where id = :id
""")


async def add_bank_file(tx: Transaction, name: str, at: datetime, by: str) -> int:
    """Add a file to the history, and return its id."""
    file_id: int = await tx.fetch_value(_ADD_FILE, name=name, at=at, by=by)
    return file_id


def set_file_counts(tx: Transaction, file_id: int, counts: Mapping[str, int]) -> None:
    """Store the counts of a file."""
    tx.queue(_SET_COUNTS, id=file_id, **counts)


class LineOfFile(Struct, frozen=True):
    """A line that a file stored or placed, as the roll-back needs it."""

    id: int
    line: int
    state: State
    payment_id: int | None
    is_own: bool
    was_placed_by_it: bool


# In the order in which imports lock lines.
_LOCK_LINES_OF_FILE = Statement(
    """
    select id, line, state, payment_id, bank_file_id = :file_id as is_own,
           placed_by is not distinct from :file_id as was_placed_by_it
    from bank_line where bank_file_id = :file_id or placed_by = :file_id order by identity, occurrence for update
    """,
    LineOfFile,
)


async def lock_lines_of_file(tx: Transaction, file_id: int) -> list[LineOfFile]:
    """Return the lines that a file stored or placed, by their ids, and lock them until the transaction ends."""
    return sorted(await tx.fetch_all(_LOCK_LINES_OF_FILE, file_id=file_id), key=lambda line: line.id)


_HAND_OVER = Statement("""
    update bank_line l set bank_file_id = r.bank_file_id, line = r.line, changed_at = :now
    from (
        select distinct on (r.bank_line_id) r.*
        from repeated_bank_line r join bank_file f on f.id = r.bank_file_id
        where r.bank_line_id = any(:ids) and r.bank_file_id <> :file_id and f.rolled_back_at is null
        order by r.bank_line_id, r.bank_file_id
    ) r
    where l.id = r.bank_line_id
    returning l.id
""")


async def hand_over_lines(tx: Transaction, file_id: int, line_ids: Sequence[int], now: datetime) -> set[int]:
    """Give the lines that a file stored to the next file that has them too; return those that there are."""
    rows = await tx.fetch_all(_HAND_OVER, file_id=file_id, ids=list(line_ids), now=now)
    return {line_id for (line_id,) in rows}


_REMOVE_LINES = Statement("delete from bank_line where id = any(:ids)")
_RESTORE_LINES = Statement("""
    update bank_line set state = 'unplaced', why = :why, payment_id = null, placed_by = null, changed_at = :now
    where id = any(:ids)
""")
_ROLLED_BACK = Statement("update bank_file set rolled_back_at = :now where id = :file_id")


async def undo_lines(
    tx: Transaction, file_id: int, removed: Sequence[int], restored: Sequence[int], why: str, now: datetime
) -> None:
    """Remove the lines that a file stored, let those that it placed wait again, and mark the file as rolled back."""
    await tx.execute(_REMOVE_LINES, ids=list(removed))
    await tx.execute(_RESTORE_LINES, ids=list(restored), why=why, now=now)
    tx.queue(_ROLLED_BACK, file_id=file_id, now=now)


_ORDERS_PAID = Statement("""
    select p.customer_id, b.order_id from bank_line l join payment p on p.id = l.payment_id
    left join allocation a on a.payment_id = p.id left join invoice_balance b on b.invoice = a.invoice
    where l.placed_by = :file_id
""")


async def paid_by(tx: Transaction, file_id: int) -> list[tuple[int, int | None]]:
    """Return the customers of the payments that a file recorded, with the orders whose invoices the payments pay."""
    return await tx.fetch_all(_ORDERS_PAID, file_id=file_id)
