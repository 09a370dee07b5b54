"""Customers with unpaid invoices, by age; reminds them when staff ask for it, and at the ages of REMINDER_DAYS."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.billing.queries.debtors import (
    DEBTORS,
    AgeStarts,
    DebtorTotals,
    debtor_totals,
    mark_reminded,
    unpaid_of,
)
from tradecounter.billing.rules import LAST_DAYS, Ageing
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.sorted_rows import After
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import day_begins, uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.wire import made_from


class Debtor(Struct, frozen=True, kw_only=True):
    """A customer with unpaid invoices."""

    customer_id: int
    name: str
    due: Decimal
    overdue: Decimal
    ageing: Ageing
    unallocated: Decimal


async def read_debtors(tx: Transaction, now: datetime, most: int | None = None, after: After = None) -> list[Debtor]:
    """Return customers with unpaid invoices, those with the most overdue first.

    `after` is the overdue amount and the id of the last customer of the page before; without `most`, returns all.
    """
    records = await DEBTORS.page(tx, age_starts(now), "overdue", most, descending=True, after=after)
    return [made_from(record, Debtor, ageing=made_from(record, Ageing)) for record in records]


async def read_debtor_totals(tx: Transaction, now: datetime) -> DebtorTotals:
    """Return what all customers together owe now."""
    return await debtor_totals(tx, age_starts(now))


def age_starts(now: datetime) -> AgeStarts:
    """Return when the UK days begin that separate the ages."""
    return AgeStarts(sorted(_starts(now, LAST_DAYS)))


def _starts(now: datetime, ages: Iterable[int]) -> list[datetime]:
    """Return when the UK days begin that are some days ago; what was due before is older than that."""
    return [day_begins(uk_date(now) - timedelta(days=age)) for age in ages]


class Reminder(Struct, frozen=True, kw_only=True):
    """A reminder: the number of unpaid invoices, what is due and overdue, in pounds, and who gets the e-mail."""

    customer_id: int
    invoices: int
    due: Decimal
    overdue: Decimal
    recipient: str


async def read_reminder(tx: Transaction, customer_id: int, now: datetime) -> Reminder:
    """Return the reminder that a customer would get now. Raises DomainError: not found, conflict (nothing is due)."""
    account = await fetch_account(tx, customer_id)
    unpaid = await unpaid_of(tx, customer_id, now)
    if not unpaid.invoices:
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} has no unpaid invoices")
    return made_from(unpaid, Reminder, customer_id=customer_id, recipient=account.billing_email)


async def remind_debtor(tx: Transaction, customer_id: int, now: datetime) -> Reminder:
    """Queue the e-mail with a customer's unpaid invoices. Raises DomainError as `read_reminder` does."""
    reminder = await read_reminder(tx, customer_id, now)
    queue(tx, "mail_debtor_reminded", customer_id=customer_id, asked=int(now.timestamp()))
    after = {"invoices": reminder.invoices, "due": reminder.due, "recipient": reminder.recipient}
    audit(tx, "customer.remind", f"customer/{customer_id}", now, after=after)
    return reminder


_BATCH = 200


async def remind_of_invoices(tx: Transaction, now: datetime, stages: list[int]) -> int:
    """Queue an e-mail for each invoice that has reached a stage, in days past the due date; return their number."""
    if not stages:
        return 0
    starts = _starts(now, (stage - 1 for stage in stages))  # the day after the last one is the first late one
    overdue = await mark_reminded(tx, stages, starts, now, _BATCH)
    for invoice in overdue:
        queue(tx, "mail_invoice_overdue", order_id=invoice.order_id, number=invoice.invoice, stage=invoice.stage)
    return len(overdue)
