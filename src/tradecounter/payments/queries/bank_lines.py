"""Bank files and their lines."""

import hashlib
from collections.abc import Collection, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found
from tradecounter.payments.bank_line import BankLine

State = Literal["unplaced", "placed", "set_aside"]


class BankLineRecord(Struct, frozen=True, kw_only=True):
    """A stored line; `placed_by` is the file whose import recorded its payment, `customer` the payer's name."""

    id: int
    bank_file_id: int
    file: str
    line: int
    day_written: str
    amount_written: str
    reference: str
    received_on: date | None
    amount: Decimal | None
    state: State
    why: str
    payment_id: int | None
    placed_by: int | None
    customer_id: int | None
    customer: str | None
    changed_at: datetime


_SELECTED = SQL("""
    select l.id, l.bank_file_id, f.name as file, l.line, l.day_written, l.amount_written, l.reference, l.received_on,
           l.amount, l.state, l.why, l.payment_id, l.placed_by, p.customer_id,
           {customer} as customer, l.changed_at
    from bank_line l join bank_file f on f.id = l.bank_file_id
    left join payment p on p.id = l.payment_id and l.state = 'placed' left join customer c on c.id = p.customer_id
""").format(customer=CUSTOMER_NAME)
_THE_LINE = Statement(SQL("{} where l.id = :line_id").format(_SELECTED), BankLineRecord)


async def fetch_bank_line(tx: Transaction, line_id: int) -> BankLineRecord:
    """Return a line. Raises DomainError (not found)."""
    row = await tx.find_row(_THE_LINE, line_id=line_id)
    return or_not_found(row, "bank line", line_id)


_LOCK_LINE = Statement("select state from bank_line where id = :line_id for update")


async def lock_bank_line(tx: Transaction, line_id: int) -> State:
    """Lock a line until the transaction ends, and return its state. Raises DomainError (not found)."""
    state: State | None = await tx.find_value(_LOCK_LINE, line_id=line_id)
    return or_not_found(state, "bank line", line_id)


class BankLineFilter(Struct, frozen=True, kw_only=True):
    """A filter of lines; None matches all. `bank_file_id` is the file that stored the line, or that placed it.

    `before` selects those with lower ids.
    """

    state: str | None = None
    bank_file_id: int | None = None
    reference: str | None = None
    before: int | None = None
    changed_since: datetime | None = None


_CONDITIONS = {
    "state": SQL("l.state = :state"),
    "bank_file_id": SQL("(l.bank_file_id = :bank_file_id or l.placed_by = :bank_file_id)"),
    "reference": SQL("position(lower(:reference) in lower(l.reference)) > 0"),
    "before": SQL("l.id < :before"),
    "changed_since": SQL("l.changed_at >= :changed_since"),
}


BANK_LINES: SortedTable[BankLineRecord] = SortedTable(
    select=_SELECTED,
    row=BankLineRecord,
    conditions=_CONDITIONS,
    columns={
        "stored": SortColumn(SQL("l.id"), SQL("bigint"), int, lambda row: row.id),
        "received": SortColumn(
            SQL("coalesce(l.received_on, date '0001-01-01')"),
            SQL("date"),
            date,
            lambda row: row.received_on or date.min,
        ),
        "amount": SortColumn(
            SQL("coalesce(l.amount, 0.00)"), SQL("numeric"), Decimal, lambda row: row.amount or Decimal(0)
        ),
    },
    key=SQL("l.id"),
    key_of=lambda row: row.id,
)


class ClaimedLine(Struct, frozen=True):
    """A stored line of a file, locked by its import; `was_placed`: it has, or had, a payment."""

    id: int
    identity: str
    occurrence: int
    state: State
    why: str
    was_placed: bool
    is_new: bool


# Numbered in the order of the file, but stored, or else locked, in the order of their identities, so that two imports
# of the same lines do not deadlock. A line of a day that was still to come has its day once that has come.
_CLAIM = Statement("""
    with numbered as materialized (
        select nextval(pg_get_serial_sequence('bank_line', 'id')) as id, t.*
        from (
            select * from unnest(:lines::integer[], :days::text[], :amounts_written::text[], :references::text[],
                                 :received_on::date[], :amounts::numeric[], :payer_texts::text[], :identities::text[],
                                 :occurrences::integer[])
                 as given (line, day_written, amount_written, reference, received_on, amount, payer_text, identity,
                           occurrence)
            order by line
        ) t
    )
    insert into bank_line (id, bank_file_id, line, day_written, amount_written, reference, received_on, amount, usual,
                           identity, occurrence, state, why, changed_at)
    overriding system value
    select id, :file_id, line, day_written, amount_written, reference, received_on, amount, payer_text, identity,
           occurrence, 'unplaced', '', :now
    from numbered order by identity, occurrence
    on conflict (identity, occurrence) do update
    set received_on = excluded.received_on, changed_at = excluded.changed_at
    where bank_line.received_on is null and excluded.received_on is not null
    returning id, xmax = 0
""")
_CLAIMED = Statement(
    """
    select l.id, l.identity, l.occurrence, l.state, l.why, l.payment_id is not null as was_placed,
           l.id = any(:new::bigint[]) as is_new
    from bank_line l
    join unnest(:identities::text[], :occurrences::integer[]) as t (identity, occurrence) using (identity, occurrence)
    """,
    ClaimedLine,
)


_REPEAT = Statement("""
    insert into repeated_bank_line (bank_line_id, bank_file_id, line)
    select id, :file_id, line from unnest(:ids::bigint[], :lines::integer[]) as t (id, line)
""")


def hashed(line: BankLine) -> str:
    """Return the hash of a line's identity."""
    return hashlib.sha256(line.identity.encode()).hexdigest()


async def claim_lines(
    tx: Transaction, file_id: int, lines: Sequence[BankLine], now: datetime
) -> dict[tuple[str, int], ClaimedLine]:
    """Store the lines that are new, and lock all lines; return them by the hash of their identity and by occurrence."""
    identities, occurrences = [hashed(line) for line in lines], [line.occurrence for line in lines]
    added = await tx.fetch_all(
        _CLAIM,
        file_id=file_id,
        now=now,
        lines=[line.number for line in lines],
        days=[line.day_written for line in lines],
        amounts_written=[line.amount_written for line in lines],
        references=[line.reference for line in lines],
        received_on=[line.received_on for line in lines],
        amounts=[line.pounds for line in lines],
        payer_texts=[line.payer_text for line in lines],
        identities=identities,
        occurrences=occurrences,
    )
    new = [line_id for line_id, is_new in added if is_new]
    rows = await tx.fetch_all(_CLAIMED, identities=identities, occurrences=occurrences, new=new)
    claimed = {(line.identity, line.occurrence): line for line in rows}
    numbers = dict(zip(zip(identities, occurrences, strict=True), [line.number for line in lines], strict=True))
    repeated = {line.id: numbers[key] for key, line in claimed.items() if not line.is_new}
    if repeated:
        tx.queue(_REPEAT, file_id=file_id, ids=list(repeated), lines=list(repeated.values()))
    return claimed


_SET_PLACED = Statement("""
    update bank_line set state = 'placed', payment_id = t.payment_id, why = t.why, placed_by = :placed_by,
           changed_at = :now
    from unnest(:ids::bigint[], :payments::bigint[], :whys::text[]) as t (id, payment_id, why)
    where bank_line.id = t.id
""")
_SET_WHY = Statement("""
    update bank_line set why = t.why, changed_at = :now from unnest(:ids::bigint[], :whys::text[]) as t (id, why)
    where bank_line.id = t.id and bank_line.why <> t.why
""")


async def set_placed(
    tx: Transaction, placed: Collection[tuple[int, int, str]], by_file: int | None, now: datetime
) -> None:
    """Mark lines as placed. Each has its id, its payment's id and the reason; `by_file` is None if placed by hand."""
    if placed:
        ids, payments, whys = (list(values) for values in zip(*placed, strict=True))
        await tx.execute(_SET_PLACED, ids=ids, payments=payments, whys=whys, placed_by=by_file, now=now)


async def set_why(tx: Transaction, reasons: Collection[tuple[int, str]], now: datetime) -> None:
    """Store the reasons why lines cannot be placed."""
    if reasons:
        ids, whys = (list(values) for values in zip(*reasons, strict=True))
        await tx.execute(_SET_WHY, ids=ids, whys=whys, now=now)


_SET_ASIDE = Statement("update bank_line set state = 'set_aside', why = :reason, changed_at = :now where id = :line_id")


def set_aside(tx: Transaction, line_id: int, reason: str, now: datetime) -> None:
    """Mark a line as set aside."""
    tx.queue(_SET_ASIDE, line_id=line_id, reason=reason, now=now)


_REVERSED = Statement("""
    update bank_line set state = 'unplaced', why = format('payment %s was reversed: %s', payment_id, :reason::text),
           changed_at = :now
    where payment_id = any(:payment_ids) and state = 'placed'
""")


def release_lines_of(tx: Transaction, payment_ids: Sequence[int], reason: str, now: datetime) -> None:
    """Let the lines of reversed payments wait again, if the payments have lines."""
    tx.queue(_REVERSED, payment_ids=payment_ids, reason=reason, now=now)


# Only what was placed by hand teaches, and only while it is one customer's.
_CUSTOMERS_OF_PAYERS = Statement("""
    select l.usual as payer_text, min(p.customer_id) from bank_line l join payment p on p.id = l.payment_id
    where l.usual = any(:payer_texts) and l.usual <> '' and l.state = 'placed'
    group by l.usual having count(distinct p.customer_id) = 1 and bool_or(l.placed_by is null)
""")


async def customers_of_payers(tx: Transaction, payers: Collection[str]) -> dict[str, int]:
    """Return the customers of payers, by the text that names the payer.

    A payer whose lines were placed by hand, all for one customer, has a customer.
    """
    return dict(await tx.fetch_all(_CUSTOMERS_OF_PAYERS, payer_texts=list(payers)))


class Company(Struct, frozen=True):
    """A customer's company, its first word in lower case, and all names of the customer."""

    customer_id: int
    company: str
    first_word: str
    names: str


_COMPANIES = Statement(
    """
    select * from (
        select id as customer_id, company,
               coalesce((regexp_match(lower(company), '[[:alnum:]]+'))[1], '') as first_word,
               company || ' ' || first_name || ' ' || last_name as names
        from customer
    ) as c where first_word = any(:words::text[]) or customer_id = any(:customer_ids::bigint[]) order by customer_id
    """,
    Company,
)


async def companies_named(tx: Transaction, words: Collection[str], customer_ids: Collection[int]) -> list[Company]:
    """Return the companies whose names begin with one of the words, and those of some customers."""
    return await tx.fetch_all(_COMPANIES, words=list(words), customer_ids=list(customer_ids))


class WaitingLines(Struct, frozen=True):
    """The lines that wait: their number, their total as far as it is readable, and since when the oldest waits.

    A line waits since its payment was reversed, or else since its file was imported, also if the roll-back of another
    file has freed it.
    """

    count: int
    pounds: Decimal
    oldest: datetime | None


_WAITING = Statement(
    """
    select count(*) as count, coalesce(sum(l.amount), 0.00) as pounds, min(coalesce(p.reversed_at, f.at)) as oldest
    from bank_line l join bank_file f on f.id = l.bank_file_id left join payment p on p.id = l.payment_id
    where l.state = 'unplaced'
    """,
    WaitingLines,
)


async def lines_waiting(tx: Transaction) -> WaitingLines:
    """Return how many lines wait to be placed."""
    return await tx.fetch_row(_WAITING)
