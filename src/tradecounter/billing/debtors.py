"""Customers with unpaid invoices, with ageing."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.account_statement import Ageing
from tradecounter.billing.queries.debtors import DEBTORS, AgeStarts, DebtorRecord, DebtorTotals, debtor_totals
from tradecounter.db.sorted_rows import After
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import at_uk_time, uk_date

MOST_OVERDUE = "overdue"


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

    `after` is what the customer before the first one has overdue, and its id; without `most`, returns all.
    """
    found = await DEBTORS.page(tx, _age_starts(now), MOST_OVERDUE, most, descending=True, after=after)
    return [_debtor(record) for record in found]


async def read_debtor_table(
    tx: Transaction, now: datetime, column: str, most: int, *, descending: bool, after: After
) -> list[DebtorRecord]:
    """Return customers with unpaid invoices, sorted by a column of `DEBTORS`, behind `after`."""
    return await DEBTORS.page(tx, _age_starts(now), column, most, descending=descending, after=after)


async def read_debtor_totals(tx: Transaction, now: datetime) -> DebtorTotals:
    """Return what all customers together owe now."""
    return await debtor_totals(tx, _age_starts(now))


def _age_starts(now: datetime) -> AgeStarts:
    """Return when the UK days begin that separate the ages."""
    today = uk_date(now)
    return AgeStarts(*(_start(today - timedelta(days=days)) for days in (0, 30, 60, 90)))


def _start(day: date) -> datetime:
    return at_uk_time(day, time())


def _debtor(record: DebtorRecord) -> Debtor:
    return Debtor(
        customer_id=record.customer_id,
        name=record.name,
        due=record.due,
        overdue=record.overdue,
        ageing=Ageing(**{age: getattr(record, age) for age in Ageing.__struct_fields__}),
        unallocated=record.unallocated,
    )
