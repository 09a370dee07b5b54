"""Customers with unpaid invoices, by the age of what they owe, and reminders."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import LiteralString

from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL, Identifier, Literal

from tradecounter.billing.rules import AGES, Ageing
from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class AgeStarts(Struct, frozen=True):
    """The starts of the ages, the oldest first; debts due after the last one are not due yet."""

    starts: list[datetime]


class DebtorRecord(Ageing, frozen=True, kw_only=True):
    """A customer with unpaid invoices, and the money on its account."""

    due: Decimal
    customer_id: int
    name: str
    overdue: Decimal
    unallocated: Decimal
    name_key: str


class DebtorTotals(Ageing, frozen=True, kw_only=True):
    """The sums of all debtors; `late` of them have overdue invoices, and `first` owes `most_overdue`."""

    due: Decimal
    debtors: int
    late: int
    first: str | None
    most_overdue: Decimal

    @property
    def overdue(self) -> Decimal:
        """What is past its due date."""
        return self.due - self.not_due


_AGED = SQL("""
    select customer_id, sum(due) as due, {sums} from (
        select customer_id, due, width_bucket(due_at, :starts::timestamptz[]) as age from invoice_balance where due > 0
    ) as aged group by customer_id
""").format(
    sums=SQL(", ").join(
        SQL("coalesce(sum(due) filter (where age = {}), 0.00) as {}").format(Literal(number), Identifier(name))
        for number, name in enumerate(reversed(AGES))
    )
)


def _amount(name: LiteralString) -> SortColumn[DebtorRecord]:
    return SortColumn(SQL(name), SQL("numeric"), Decimal, attrgetter(name))


DEBTORS: SortedTable[DebtorRecord] = SortedTable(
    select=SQL("""
        select * from (
            select a.*, a.due - a.not_due as overdue, {name} as name, lower({name}) as name_key,
                   coalesce(b.unallocated, 0.00) as unallocated
            from ({aged}) as a join customer as c on c.id = a.customer_id
            left join account_balance as b on b.customer_id = a.customer_id
        ) as debtor
    """).format(name=CUSTOMER_NAME, aged=_AGED),
    row=DebtorRecord,
    conditions={},
    columns={
        "name": SortColumn(SQL("name_key"), SQL("text"), str, attrgetter("name_key")),
        **{name: _amount(name) for name in ("due", "overdue", *AGES)},
    },
    key=SQL("customer_id"),
    key_of=attrgetter("customer_id"),
)


_TOTALS = Statement(
    SQL("""
    select t.due, {ages}, debtors, late, most_overdue, {name} as first from (
        select coalesce(sum(due), 0.00) as due, {sums},
               count(*) as debtors, count(*) filter (where due > not_due) as late,
               coalesce(max(due - not_due), 0.00) as most_overdue,
               (array_agg(customer_id order by due - not_due desc, customer_id desc))[1] as customer_id
        from ({aged}) as a
    ) as t left join customer as c on c.id = t.customer_id
    """).format(
        name=CUSTOMER_NAME,
        aged=_AGED,
        ages=SQL(", ").join(map(Identifier, AGES)),
        sums=SQL(", ").join(SQL("coalesce(sum({0}), 0.00) as {0}").format(Identifier(name)) for name in AGES),
    ),
    DebtorTotals,
)


async def debtor_totals(tx: Transaction, ages: AgeStarts) -> DebtorTotals:
    """Return the sums of all debtors."""
    return await tx.fetch_row(_TOTALS, **asdict(ages))


_LAST_CHANGE = Statement("select max(changed_at) from invoice_balance")


async def last_balance_change(tx: Transaction) -> datetime | None:
    """Return when what is due of an invoice was last changed by a committed transaction."""
    changed: datetime | None = await tx.fetch_value(_LAST_CHANGE)
    return changed


class UnpaidSums(Struct, frozen=True):
    """The number of a customer's unpaid invoices, what is due of them, and what of it is overdue, in pounds."""

    invoices: int
    due: Decimal
    overdue: Decimal


_UNPAID = Statement(
    "select count(*) as invoices, coalesce(sum(due), 0.00) as due,"
    " coalesce(sum(due) filter (where due_at < :now), 0.00) as overdue from invoice_balance"
    " where customer_id = :customer_id and due > 0",
    UnpaidSums,
)


async def unpaid_of(tx: Transaction, customer_id: int, now: datetime) -> UnpaidSums:
    """Return a customer's unpaid invoices."""
    return await tx.fetch_row(_UNPAID, customer_id=customer_id, now=now)


class ChosenDebtor(UnpaidSums, frozen=True):
    """The unpaid invoices of one of several customers."""

    customer_id: int
    name: str


_CHOSEN = Statement(
    SQL("""
    select count(*) as invoices, sum(b.due) as due,
           sum(b.due) filter (where b.due_at < :now) as overdue, c.id as customer_id, {name} as name
    from invoice_balance b join customer c on c.id = b.customer_id
    where b.customer_id = any(:customer_ids) and b.due > 0
    group by c.id having bool_or(b.due_at < :now) order by overdue desc, c.id
    """).format(name=CUSTOMER_NAME),
    ChosenDebtor,
)


async def chosen_debtors(tx: Transaction, customer_ids: Sequence[int], now: datetime) -> list[ChosenDebtor]:
    """Return what each customer owes, those with the most overdue first; only customers with something overdue."""
    return await tx.fetch_all(_CHOSEN, customer_ids=list(customer_ids), now=now)


class OverdueInvoice(Struct, frozen=True):
    """An overdue invoice for which the reminder of a stage is not sent yet."""

    invoice: int
    order_id: int
    stage: int


_MARK_REMINDED = Statement(
    """
    insert into invoice_reminder (invoice, stage, reminded_at)
    select invoice, stage, :now from (
        select b.invoice, max(s.stage) as stage
        from invoice_balance b join unnest(:stages::integer[], :starts::timestamptz[]) as s (stage, start)
            on b.due_at < s.start
        where b.due > 0 group by b.invoice
    ) as reached
    where not exists (select from invoice_reminder r where r.invoice = reached.invoice and r.stage >= reached.stage)
    order by invoice limit :most
    on conflict do nothing
    returning invoice, (select order_id from invoice_balance b where b.invoice = invoice_reminder.invoice) as order_id,
              stage
    """,
    OverdueInvoice,
)


async def mark_reminded(
    tx: Transaction, stages: list[int], starts: list[datetime], now: datetime, most: int
) -> list[OverdueInvoice]:
    """Return invoices that have reached a stage, which were due before its start, and mark them as reminded.

    An invoice that has reached several stages is returned once, with the last one.
    """
    return await tx.fetch_all(_MARK_REMINDED, stages=stages, starts=starts, now=now, most=most)
