"""Payments: they are reversed, but never changed or deleted."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL, Composed

from tradecounter.billing.queries.ledger import InvoiceBalance
from tradecounter.billing.rules import counts_from
from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found
from tradecounter.orders.queries.orders import NAMED_ORDERS


class PaymentRecord(Struct, frozen=True, kw_only=True):
    """A payment; `customer` is the payer's name, `invoices` are those that it pays, and `shares` what each gets."""

    id: int
    customer_id: int
    customer: str
    amount: Decimal
    received_on: date
    method: str
    reference: str
    recorded_at: datetime
    reversed_at: datetime | None
    reversal_reason: str | None
    invoices: list[int]
    shares: list[Decimal]

    def share_of(self, invoice: int) -> Decimal | None:
        """Return how much of the payment an invoice got, or None."""
        return dict(zip(self.invoices, self.shares, strict=True)).get(invoice)


_PAYMENTS = SQL("select p.* from payment p")


def _with_shares(payments: Composed) -> Composed:
    return SQL("""
        select p.id, p.customer_id, {name} as customer, p.amount, p.received_on, p.method, p.reference, p.recorded_at,
               p.reversed_at, p.reversal_reason, coalesce(a.invoices, '{{}}') as invoices,
               coalesce(a.shares, '{{}}') as shares
        from ({payments}) as p join customer c on c.id = p.customer_id
        left join lateral (
            select array_agg(invoice order by invoice) as invoices, array_agg(amount order by invoice) as shares from (
                select invoice, sum(amount) as amount from allocation
                where payment_id = p.id and invoice is not null group by invoice having sum(amount) <> 0
            ) as shares
        ) as a on true
    """).format(name=CUSTOMER_NAME, payments=payments)


_THOSE = SQL("{} where p.id = any(:payment_ids)").format(_PAYMENTS)
_WITH_IDS = Statement(SQL("{} order by p.id").format(_with_shares(_THOSE)), PaymentRecord)


async def payments_with_ids(tx: Transaction, payment_ids: Sequence[int]) -> list[PaymentRecord]:
    """Return payments by their ids."""
    return await tx.fetch_all(_WITH_IDS, payment_ids=payment_ids)


async def fetch_payment(tx: Transaction, payment_id: int) -> PaymentRecord:
    """Return a payment. Raises DomainError (not found)."""
    found = await payments_with_ids(tx, [payment_id])
    return or_not_found(found[0] if found else None, "payment", payment_id)


class PaymentFilter(Struct, frozen=True, kw_only=True):
    """A filter of payments; None matches all. Both days of receipt are included.

    `invoice` and `order_reference` are those of an invoice that it pays; `reference` is part of the payment's own.
    `before` selects those with lower ids.
    """

    customer_id: int | None = None
    invoice: int | None = None
    order_reference: str | None = None
    method: str | None = None
    reference: str | None = None
    received_from: date | None = None
    received_to: date | None = None
    before: int | None = None
    changed_since: datetime | None = None


_CONDITIONS: Mapping[str, SQL | Composed] = {
    "customer_id": SQL("p.customer_id = :customer_id"),
    "invoice": SQL("p.id in (select payment_id from allocation where invoice = :invoice)"),
    "order_reference": SQL(
        "p.id in (select payment_id from allocation a join invoice_balance b using (invoice) where b.order_id in {})"
    ).format(NAMED_ORDERS),
    "method": SQL("p.method = :method"),
    "reference": SQL("position(lower(:reference) in lower(p.reference)) > 0"),
    "received_from": SQL("p.received_on >= :received_from"),
    "received_to": SQL("p.received_on <= :received_to"),
    "before": SQL("p.id < :before"),
    "changed_since": SQL("p.changed_at >= :changed_since"),
}


async def list_payments(tx: Transaction, wanted: PaymentFilter, most: int, start: int = 0) -> list[PaymentRecord]:
    """Return the latest payments that match a filter, from a position on."""
    chosen, values = where(wanted, _CONDITIONS)
    page = SQL("{} where {} order by p.id desc offset :start limit :most").format(_PAYMENTS, chosen)
    sql = SQL("{} order by p.id desc").format(_with_shares(page))
    return await tx.fetch_all(Statement(sql, PaymentRecord), **values, most=most, start=start)


async def count_payments(tx: Transaction, wanted: PaymentFilter) -> int:
    """Return how many payments match a filter."""
    chosen, values = where(wanted, _CONDITIONS)
    return int(await tx.fetch_value(Statement(SQL("select count(*) from payment p where {}").format(chosen)), **values))


PAYMENTS: SortedTable[PaymentRecord] = SortedTable(
    select=_PAYMENTS,
    joined=_with_shares,
    row=PaymentRecord,
    conditions=_CONDITIONS,
    columns={
        "recorded": SortColumn(SQL("p.id"), SQL("bigint"), int, lambda row: row.id),
        "received": SortColumn(SQL("p.received_on"), SQL("date"), date, lambda row: row.received_on),
        "amount": SortColumn(SQL("p.amount"), SQL("numeric"), Decimal, lambda row: row.amount),
    },
    key=SQL("p.id"),
    key_of=lambda row: row.id,
)


class ToRecord(Struct, frozen=True, kw_only=True):
    """A payment or a refund to record, and its shares, which pay invoices."""

    customer_id: int
    amount: Decimal
    received_on: date
    method: str = "bank_transfer"
    reference: str
    shares: Sequence[tuple[InvoiceBalance, Decimal]] = ()


_DUPLICATES = Statement("""
    select reference_key(t.reference), min(p.id)
    from unnest(:customer_ids::bigint[], :days::date[], :amounts::numeric[], :methods::text[], :references::text[])
         with ordinality as t (customer_id, day, amount, method, reference, number)
    left join payment p on p.customer_id = t.customer_id and p.received_on = t.day and p.amount = t.amount
        and p.reversed_at is null and reference_key(p.reference) = reference_key(t.reference)
        and (p.method = 'refund') = (t.method = 'refund') and t.reference <> ''
    group by t.number, t.reference order by t.number
""")


async def find_duplicates(tx: Transaction, payments: Sequence[ToRecord]) -> list[tuple[str, int | None]]:
    """Return for each payment the form in which its reference is compared, and the id of an equal payment.

    A payment that is not reversed is equal if it has the same customer, reference, amount and day; without a reference,
    none is.
    """
    return await tx.fetch_all(_DUPLICATES, **_columns(payments))


# Ids are drawn in the order of the rows that are inserted, but returned in any order.
_INSERT_PAYMENTS = Statement("""
    insert into payment (customer_id, amount, received_on, counts_from, method, reference, recorded_at)
    select customer_id, amount, day, counts_from, method, reference, :now
    from unnest(:customer_ids::bigint[], :days::date[], :amounts::numeric[], :methods::text[], :references::text[],
                :counts_from::timestamptz[]) with ordinality
         as t (customer_id, day, amount, method, reference, counts_from, number)
    order by number
    returning id
""")


async def insert_payments(tx: Transaction, payments: Sequence[ToRecord], now: datetime) -> list[int]:
    """Store payments; return their ids in the order of the payments."""
    counted = [counts_from(payment.received_on, now) for payment in payments]
    rows = await tx.fetch_all(_INSERT_PAYMENTS, **_columns(payments), counts_from=counted, now=now)
    return sorted(payment_id for (payment_id,) in rows)


def _columns(payments: Sequence[ToRecord]) -> dict[str, list[Any]]:
    return {
        "customer_ids": [payment.customer_id for payment in payments],
        "days": [payment.received_on for payment in payments],
        "amounts": [payment.amount for payment in payments],
        "methods": [payment.method for payment in payments],
        "references": [payment.reference for payment in payments],
    }


_REVERSE = Statement("update payment set reversed_at = :now, reversal_reason = :reason where id = any(:payment_ids)")


def store_reversals(tx: Transaction, payment_ids: Sequence[int], reason: str, now: datetime) -> None:
    """Mark payments as reversed."""
    tx.queue(_REVERSE, payment_ids=payment_ids, reason=reason, now=now)
