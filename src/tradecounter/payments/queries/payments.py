"""Payments, which never change but can be reversed, and remittances: payments that customers have told of."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta, Struct
from psycopg.sql import SQL, Composed

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.wire import Amount, Moment, Timed
from tradecounter.orders.queries.orders import NAMED_ORDERS


class PaymentRecord(Struct, frozen=True, kw_only=True):
    """A payment; `allocations` are objects with `invoice` and `amount`."""

    id: int
    customer_id: int
    amount: Decimal
    received_on: date
    method: str
    reference: str
    recorded_at: datetime
    reversed_at: datetime | None
    reversal_reason: str | None
    allocations: list[dict[str, Any]]

    def share_of(self, invoice: int) -> Decimal | None:
        """Return how much of the payment an invoice got, or None."""
        return next((Decimal(share["amount"]) for share in self.allocations if share["invoice"] == invoice), None)


_SELECTED = SQL("""
    select p.id, p.customer_id, p.amount, p.received_on, p.method, p.reference, p.recorded_at, p.reversed_at,
           p.reversal_reason, coalesce(a.allocations, '[]') as allocations
    from (select p.* from payment p where {}) as p
    left join lateral (
        select jsonb_agg(jsonb_build_object('invoice', invoice, 'amount', amount::text) order by invoice) as allocations
        from (
            select invoice, sum(amount) as amount from allocation
            where payment_id = p.id and invoice is not null group by invoice having sum(amount) <> 0
        ) as shares
    ) as a on true
""")

_THE_PAYMENT = Statement(_SELECTED.format(SQL("p.id = :payment_id")), PaymentRecord)


async def fetch_payment(tx: Transaction, payment_id: int) -> PaymentRecord:
    """Return a payment. Raises DomainError (not found)."""
    found = await tx.fetch_one(_THE_PAYMENT, payment_id=payment_id)
    if found is None:
        raise not_found("payment", payment_id)
    return found


class PaymentFilter(Struct, frozen=True, kw_only=True):
    """A filter of payments; None matches all. Both days of receipt are included.

    `invoice` and `order_reference` are of an invoice that is paid; `reference` is a part of the payment's own.
    """

    customer_id: int | None = None
    invoice: int | None = None
    order_reference: str | None = None
    method: str | None = None
    reference: str | None = None
    received_from: date | None = None
    received_to: date | None = None
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
    "changed_since": SQL("p.changed_at >= :changed_since"),
}


async def list_payments(
    tx: Transaction, wanted: PaymentFilter, most: int, *, before: int | None = None, start: int = 0
) -> list[PaymentRecord]:
    """Return the latest payments that match a filter, from a position on; with `before`, those with a lower id."""
    chosen, values = where(wanted, _CONDITIONS)
    if before is not None:
        values["before"] = before
        chosen = SQL("{} and p.id < :before").format(chosen)
    page = SQL("{} order by p.id desc offset :start limit :most").format(chosen)
    sql = SQL("{} order by p.id desc").format(_SELECTED.format(page))
    return await tx.fetch_all(Statement(sql, PaymentRecord), **values, most=most, start=start)


async def count_payments(tx: Transaction, wanted: PaymentFilter) -> int:
    """Return how many payments match a filter."""
    chosen, values = where(wanted, _CONDITIONS)
    return int(await tx.fetch_value(Statement(SQL("select count(*) from payment p where {}").format(chosen)), **values))


class PaymentRow(Struct, frozen=True):
    """A payment in a table; `invoices` are those that it pays."""

    id: int
    customer_id: int
    customer: str
    amount: Decimal
    received_on: date
    method: str
    reference: str
    reversed_at: datetime | None
    invoices: Sequence[int]


PAYMENTS: SortedTable[PaymentRow] = SortedTable(
    select=SQL("select p.* from payment p"),
    joined=lambda page: SQL("""
        select p.id, p.customer_id, {name} as customer, p.amount, p.received_on, p.method, p.reference, p.reversed_at,
               coalesce((select jsonb_agg(invoice order by invoice) from (
                   select invoice from allocation where payment_id = p.id and invoice is not null
                   group by invoice having sum(amount) <> 0) as paid), '[]') as invoices
        from ({page}) as p join customer c on c.id = p.customer_id
    """).format(name=CUSTOMER_NAME, page=page),
    row=PaymentRow,
    conditions=_CONDITIONS,
    columns={
        "recorded": SortColumn(SQL("p.id"), SQL("bigint"), int, lambda row: row.id),
        "received": SortColumn(SQL("p.received_on"), SQL("date"), date, lambda row: row.received_on),
        "amount": SortColumn(SQL("p.amount"), SQL("numeric"), Decimal, lambda row: row.amount),
    },
    key=SQL("p.id"),
    key_of=lambda row: row.id,
)


_DUPLICATE = Statement("""
    select id from payment
    where customer_id = :customer_id and received_on = :received_on and amount = :amount and reversed_at is null
      and reference_key(reference) = reference_key(:reference) and (method = 'refund') = :refund
    order by id limit 1
""")


async def find_duplicate(
    tx: Transaction, customer_id: int, amount: Decimal, received_on: date, reference: str, *, refund: bool
) -> int | None:
    """Return a payment with the same reference, amount and day that is not reversed; None without a reference."""
    if not reference:
        return None
    found: int | None = await tx.fetch_value(
        _DUPLICATE, customer_id=customer_id, amount=amount, received_on=received_on, reference=reference, refund=refund
    )
    return found


_INSERT_PAYMENT = Statement("""
    insert into payment (customer_id, amount, received_on, counts_from, method, reference, recorded_at)
    values (:customer_id, :amount, :received_on, :counts_from, :method, :reference, :recorded_at) returning id
""")


async def insert_payment(
    tx: Transaction,
    customer_id: int,
    amount: Decimal,
    *,
    received_on: date,
    counts_from: datetime,
    method: str,
    reference: str,
    recorded_at: datetime,
) -> int:
    """Store a payment; return its id."""
    payment_id: int = await tx.fetch_value(
        _INSERT_PAYMENT,
        customer_id=customer_id,
        amount=amount,
        received_on=received_on,
        counts_from=counts_from,
        method=method,
        reference=reference,
        recorded_at=recorded_at,
    )
    return payment_id


_REVERSE = Statement("update payment set reversed_at = :now, reversal_reason = :reason where id = :payment_id")


def store_reversal(tx: Transaction, payment_id: int, reason: str, now: datetime) -> None:
    """Mark a payment as reversed."""
    tx.queue(_REVERSE, payment_id=payment_id, reason=reason, now=now)


class RemittanceAdvice(Timed, Struct, frozen=True):
    """What a customer has told of a payment."""

    id: int
    customer_id: int
    amount: Amount
    paid_on: Annotated[date, Meta(description="The day on which the customer has paid, or will.")]
    reference: Annotated[str, Meta(description="The reference that the customer has given to its bank.")]
    invoices: Annotated[list[int], Meta(description="The numbers of the invoices.")]
    told_at: Moment
    payment_id: Annotated[int | None, Meta(description="The payment that it was; null until a bank file has it.")]


_REMITTANCES = SQL(
    "select id, customer_id, amount, paid_on, reference, invoices, told_at, payment_id from remittance r"
)
# One whose invoices are all paid came by another way.
_AWAITED = SQL("""
    payment_id is null and told_at > :since
    and exists (select from invoice_balance b where b.invoice = any(r.invoices) and b.due > 0)
""")
_ADD = Statement("""
    insert into remittance (customer_id, user_id, amount, paid_on, reference, invoices, told_at)
    values (:customer_id, :user_id, :amount, :paid_on, :reference, :invoices, :now) returning id
""")
_ONE = Statement(SQL("{} where id = :id").format(_REMITTANCES), RemittanceAdvice)
_TABLE = Statement(
    SQL("""{} where (:customer_id::bigint is null or customer_id = :customer_id)
        and (:before::bigint is null or id < :before)
        and (:changed_since::timestamptz is null or changed_at >= :changed_since)
        order by id desc limit :most""").format(_REMITTANCES),
    RemittanceAdvice,
)
_AWAITED_OF = Statement(
    SQL("{} where customer_id = any(:customer_ids::bigint[]) and {} order by id").format(_REMITTANCES, _AWAITED),
    RemittanceAdvice,
)
_AWAITED_AMOUNTS = Statement(
    SQL("{} where amount = any(:amounts::numeric[]) and {} order by id").format(_REMITTANCES, _AWAITED),
    RemittanceAdvice,
)
_REMOVE = Statement("delete from remittance where id = :id and customer_id = :customer_id and payment_id is null")
_COME = Statement("update remittance set payment_id = :payment_id where id = :id and payment_id is null")

_AWAIT_AGAIN = Statement("update remittance set payment_id = null where payment_id = :payment_id")


async def insert_remittance(
    tx: Transaction,
    customer_id: int,
    user_id: int | None,
    amount: Decimal,
    paid_on: date,
    reference: str,
    invoices: Sequence[int],
    now: datetime,
) -> int:
    """Store a remittance and return its id."""
    stored: int = await tx.fetch_value(
        _ADD,
        customer_id=customer_id,
        user_id=user_id,
        amount=amount,
        paid_on=paid_on,
        reference=reference,
        invoices=list(invoices),
        now=now,
    )
    return stored


async def fetch_remittance(tx: Transaction, remittance_id: int) -> RemittanceAdvice:
    """Return a remittance. Raises DomainError (not found)."""
    found = await tx.fetch_one(_ONE, id=remittance_id)
    if found is None:
        raise not_found("remittance", remittance_id)
    return found


async def remittance_table(
    tx: Transaction, customer_id: int | None, before: int | None, most: int, changed_since: datetime | None = None
) -> list[RemittanceAdvice]:
    """Return remittances of a customer or of all, the latest first, behind one's id."""
    return await tx.fetch_all(_TABLE, customer_id=customer_id, before=before, most=most, changed_since=changed_since)


async def awaited_of(tx: Transaction, customer_ids: Sequence[int], since: datetime) -> list[RemittanceAdvice]:
    """Return the remittances of customers that have not come, of those that were told after a moment."""
    return await tx.fetch_all(_AWAITED_OF, customer_ids=list(customer_ids), since=since)


async def awaited_amounts(tx: Transaction, amounts: Collection[Decimal], since: datetime) -> list[RemittanceAdvice]:
    """Return the remittances of these amounts that have not come, of those that were told after a moment."""
    return await tx.fetch_all(_AWAITED_AMOUNTS, amounts=list(amounts), since=since)


async def remove_remittance(tx: Transaction, customer_id: int, remittance_id: int) -> bool:
    """Delete a remittance that has not come; return whether there was one."""
    return await tx.execute(_REMOVE, id=remittance_id, customer_id=customer_id) == 1


async def set_come(tx: Transaction, remittance_id: int, payment_id: int) -> None:
    """Note by which payment a remittance has come."""
    await tx.execute(_COME, id=remittance_id, payment_id=payment_id)


async def await_again(tx: Transaction, payment_id: int) -> None:
    """Note that the remittances of a payment, which is reversed, have not come."""
    await tx.execute(_AWAIT_AGAIN, payment_id=payment_id)
