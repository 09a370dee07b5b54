"""Statements of customers' accounts with ageing: as data, as CSV and PDF files, and by e-mail."""

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

from msgspec import Meta, Struct

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import InvoiceBalance, open_invoices
from tradecounter.billing.queries.statements import balance_before, due_before, entries_between
from tradecounter.billing.rules import AGES, LAST_DAYS, Ageing, require_period
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.rest.days import PERIOD_NAMES, Day, day_of
from tradecounter.edge.rest.negotiation import CSV, PDF
from tradecounter.kit.clock import day_begins, day_ends, day_in_words, uk_date
from tradecounter.kit.csv_text import harmless, line
from tradecounter.kit.errors import invalid
from tradecounter.kit.money import NOTHING, in_pounds
from tradecounter.kit.text import one_line
from tradecounter.kit.wire import Moment, Timed, made_from
from tradecounter.letterhead.printing import Printer, print_with
from tradecounter.letterhead.seller import Letterhead

Time = TypeVar("Time")


class EntryFields(Struct, Generic[Time], frozen=True, kw_only=True):
    """What an entry of a statement has, whatever the form of its time."""

    at: Time
    kind: Annotated[str, Meta(description="`invoice`, `credit_note`, `payment`, `reversal` of a payment, or `refund`.")]
    number: Annotated[int, Meta(description="The number of the document, or the payment's id.")]
    description: Annotated[str, Meta(description="The order's reference, the payment's, or the reason.")]
    debit: Annotated[Decimal, Meta(description="What it adds to the debt, in pounds.")]
    credit: Annotated[Decimal, Meta(description="What it takes off the debt, in pounds.")]
    balance: Annotated[Decimal, Meta(description="What the customer owes after it; negative: money on the account.")]


class Entry(Timed, EntryFields[Moment], frozen=True, kw_only=True):
    """An entry of a statement; `balance` is what the customer owes after it."""


AnEntry = TypeVar("AnEntry")


class StatementFields(Struct, Generic[AnEntry], frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """What a statement has, whatever the form of its entries' times."""

    customer_id: Annotated[int, Meta(description="The customer's id.")]
    since: Annotated[date, Meta(description="The first UK day.")]
    until: Annotated[date, Meta(description="The last UK day, which is included.")]
    opening_balance: Annotated[Decimal, Meta(description="What the customer owed before the first day, in pounds.")]
    entries: list[AnEntry]
    closing_balance: Annotated[Decimal, Meta(description="What the customer owed after the last day, in pounds.")]
    ageing: Annotated[Ageing, Meta(description="What is due of invoices by age, as of the last day.")]
    unallocated: Annotated[Decimal, Meta(description="Money on the account that pays no invoice yet, in pounds.")]


class AccountStatement(StatementFields[Entry], frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """A customer's account between two UK days, both included; ageing and `unallocated` are as of the last one.

    The closing balance is the sum of the ageing less the money on the account.
    """


_DAYS = 365


class StatementPeriod(Struct, frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """The days of a statement, both included."""

    since: Annotated[
        Day | None, Meta(description="The first day; by default that of the first entry.", examples=["2026-01-01"])
    ] = None
    until: Annotated[
        Day | None, Meta(description="The last day, today by default; ageing is as of it.", examples=["2099-12-31"])
    ] = None


def statement_days(wanted: StatementPeriod) -> tuple[date | None, date | None]:
    """Return the first and the last day of a statement, None for a missing one. Raises DomainError (invalid)."""
    return day_of("from", wanted.since), day_of("to", wanted.until)


def recent_days(wanted: StatementPeriod, now: datetime) -> tuple[date, date]:
    """Return the days as `statement_days`, on pages and in e-mails: without a first one, the last twelve months.

    With years of entries, nobody reads more.
    """
    since, until = statement_days(wanted)
    until = until or uk_date(now)
    return since or date.fromordinal(max(until.toordinal() - _DAYS, 1)), until


_BEGINNING = datetime.min.replace(tzinfo=UTC)


async def read_statement(
    tx: Transaction, customer_id: int, since: date | None, until: date | None, now: datetime
) -> AccountStatement:
    """Return a customer's statement; by default from the first entry to today.

    Raises DomainError: not found, invalid (ends before it starts, or on the last day of the calendar).
    """
    await fetch_account(tx, customer_id)
    until = until or uk_date(now)
    opening, start = NOTHING, _BEGINNING
    if since is not None:
        require_period(since, until)
        start = day_begins(since)
        opening = await balance_before(tx, customer_id, start)
    if until == date.max:
        raise invalid("to", f"must be before {until}")
    end = day_ends(until)
    records = await entries_between(tx, customer_id, start, end)
    if since is None:
        since = uk_date(records[0].at) if records else until
    balance, entries = opening, []
    for record in records:
        balance += record.debit - record.credit
        entries.append(made_from(record, Entry, description=one_line(record.description), balance=balance))
    dues = await (open_invoices(tx, customer_id) if end > now else due_before(tx, customer_id, end))
    return AccountStatement(
        customer_id=customer_id,
        since=since,
        until=until,
        opening_balance=opening,
        entries=entries,
        closing_balance=balance,
        ageing=ageing_of(dues, until),
        unallocated=sum((due.due for due in dues), NOTHING) - balance,
    )


def ageing_of(dues: Iterable[InvoiceBalance], day: date) -> Ageing:
    """Return what is due by age on a UK day."""
    sums = dict.fromkeys(AGES, NOTHING)
    names = list(AGES)
    for due in dues:
        late = (day - uk_date(due.due_at)).days
        sums[names[bisect_left(LAST_DAYS, late)]] += due.due
    return Ageing(**sums)


def statement_csv(statement: AccountStatement) -> str:
    """Return a statement as CSV, with lines for the opening and the closing balance."""
    rows: list[tuple[object, ...]] = [
        ("date", "kind", "number", "description", "debit", "credit", "balance"),
        (statement.since, "opening_balance", "", "", "", "", statement.opening_balance),
    ]
    for entry in statement.entries:
        debit, credit = entry.debit or "", entry.credit or ""
        day, description = uk_date(entry.at), harmless(entry.description)
        rows.append((day, entry.kind, entry.number, description, debit, credit, entry.balance))
    rows.append((statement.until, "closing_balance", "", "", "", "", statement.closing_balance))
    return "".join(line(map(str, row)) for row in rows)


MOST_SHOWN = 1_000  # entries on a page, the latest; the files have all
KINDS = {
    "invoice": "Invoice",
    "credit_note": "Credit note",
    "payment": "Payment",
    "refund": "Refund",
    "reversal": "Reversed payment",
}


def print_statement(statement: AccountStatement, name: str, letterhead: Letterhead, now: datetime) -> bytes:
    """Return a statement as a PDF file; `name` is the customer's. May run in any thread."""
    return print_with(
        "tradecounter.billing",
        "statement",
        lambda printer: _printed(printer, statement, name, letterhead),
        now,
        letterhead.logo,
    )


def _printed(printer: Printer, statement: AccountStatement, name: str, letterhead: Letterhead) -> dict[str, Any]:
    return {
        "seller": printer.seller(letterhead.seller),
        "customer": {"name": printer.shown(name), "id": str(statement.customer_id)},
        "since": day_in_words(statement.since),
        "until": day_in_words(statement.until),
        "opening": in_pounds(statement.opening_balance),
        "closing": in_pounds(statement.closing_balance),
        "entries": [_printed_entry(printer, entry) for entry in statement.entries],
        "ageing": [[words, in_pounds(getattr(statement.ageing, name))] for name, words in AGES.items()],
        "unallocated": in_pounds(statement.unallocated) if statement.unallocated else None,
        "unshown": printer.named(),
    }


def _printed_entry(printer: Printer, entry: Entry) -> list[str]:
    return [
        day_in_words(uk_date(entry.at)),
        f"{KINDS[entry.kind]} {entry.number}",
        printer.shown(entry.description),
        in_pounds(entry.debit) if entry.debit else "",
        in_pounds(entry.credit) if entry.credit else "",
        in_pounds(entry.balance),
    ]


async def statement_file(
    statement: AccountStatement,
    file_format: Literal["csv", "pdf"],
    customer: str,
    letterhead: Callable[[], Letterhead],
    now: datetime,
) -> tuple[bytes, str, str]:
    """Return the content of a statement's file, its name and its media type.

    `customer` is the customer's name. `letterhead` is called in a thread.
    """
    name = f"statement-{statement.customer_id}-{statement.until}"
    if file_format == "csv":
        return statement_csv(statement).encode(), f"{name}.csv", CSV
    pdf = await asyncio.to_thread(lambda: print_statement(statement, customer, letterhead(), now))
    return pdf, f"{name}.pdf", PDF


class SentStatement(Struct, frozen=True, kw_only=True):
    """A statement that is sent: who gets the e-mail."""

    customer_id: int
    recipient: str


async def send_statement(tx: Transaction, customer_id: int, now: datetime) -> SentStatement:
    """Queue the e-mail with a customer's statement as a PDF file. Raises DomainError (not found)."""
    account = await fetch_account(tx, customer_id)
    queue(tx, "mail_statement", customer_id=customer_id, asked=int(now.timestamp()))
    audit(tx, "customer.send_statement", f"customer/{customer_id}", now, after={"recipient": account.billing_email})
    return SentStatement(customer_id=customer_id, recipient=account.billing_email)
