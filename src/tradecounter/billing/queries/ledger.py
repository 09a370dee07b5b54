"""The money of accounts: unallocated money, its allocation, and what is due of invoices.

Everything that moves money locks the account's balance first, then the orders, then the credit exposure.
"""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from decimal import Decimal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING

_LOCK_BALANCES = Statement("""
    insert into account_balance (customer_id)
    select customer_id from unnest(:customer_ids::bigint[]) as customer_id order by customer_id
    on conflict (customer_id) do update set customer_id = excluded.customer_id
    returning unallocated
""")


async def lock_balance(tx: Transaction, customer_id: int) -> Decimal:
    """Lock the balance of an account, its money, until the transaction ends; return what is unallocated."""
    unallocated: Decimal = await tx.fetch_value(_LOCK_BALANCES, customer_ids=[customer_id])
    return unallocated


async def lock_balances(tx: Transaction, customer_ids: set[int]) -> None:
    """Lock the balances of accounts, by customer id, until the transaction ends."""
    if customer_ids:
        await tx.execute(_LOCK_BALANCES, customer_ids=list(customer_ids))


_UNALLOCATED_OF = Statement(
    "select customer_id, unallocated from account_balance where customer_id = any(:customer_ids)"
)


async def unallocated_of(tx: Transaction, customer_id: int) -> Decimal:
    """Return the money of payments that is on an account."""
    return (await unallocated_by_customer(tx, [customer_id])).get(customer_id, NOTHING)


async def unallocated_by_customer(tx: Transaction, customer_ids: Sequence[int]) -> dict[int, Decimal]:
    """Return the unallocated money by customer, for customers that ever had any."""
    return dict(await tx.fetch_all(_UNALLOCATED_OF, customer_ids=list(customer_ids)))


class InvoiceBalance(Struct, frozen=True):
    """An invoice and what is due of it, which may be nothing."""

    invoice: int
    order_id: int
    due: Decimal
    due_at: datetime


class InvoiceOwner(Struct, frozen=True):
    """An invoice's order and customer, which never change."""

    invoice: int
    order_id: int
    customer_id: int


_BALANCES = SQL("select invoice, order_id, due, due_at from invoice_balance where {} order by due_at, invoice")
_OPEN_INVOICES = Statement(_BALANCES.format(SQL("customer_id = :customer_id and due > 0")), InvoiceBalance)


async def open_invoices(tx: Transaction, customer_id: int) -> list[InvoiceBalance]:
    """Return what is due of a customer's invoices, the oldest due date first. `invoices_to_pay` has whole invoices."""
    return await tx.fetch_all(_OPEN_INVOICES, customer_id=customer_id)


_INVOICE_BALANCES = Statement(_BALANCES.format(SQL("invoice = any(:numbers)")), InvoiceBalance)


async def invoice_balances(tx: Transaction, numbers: Sequence[int]) -> list[InvoiceBalance]:
    """Return what is due of invoices, possibly nothing, in the sequence of `numbers`. Raises LookupError."""
    balances = {balance.invoice: balance for balance in await tx.fetch_all(_INVOICE_BALANCES, numbers=list(numbers))}
    return [balances[number] for number in numbers]


_BALANCES_OF = Statement("""
    select customer_id, invoice, order_id, due, due_at from invoice_balance
    where (customer_id = any(:customer_ids::bigint[]) or invoice = any(:numbers::bigint[])) and due > 0
    order by due_at, invoice
""")


async def balances_of(
    tx: Transaction, customer_ids: Collection[int], numbers: Collection[int]
) -> dict[int, dict[int, InvoiceBalance]]:
    """Return the unpaid invoices of some customers or with some numbers, by both, the first due first."""
    balances: dict[int, dict[int, InvoiceBalance]] = {}
    for customer_id, *balance in await tx.fetch_all(
        _BALANCES_OF, customer_ids=list(customer_ids), numbers=list(numbers)
    ):
        invoice = InvoiceBalance(*balance)
        balances.setdefault(customer_id, {})[invoice.invoice] = invoice
    return balances


_INVOICES_NUMBERED = Statement(
    "select invoice, order_id, customer_id from invoice_balance where invoice = any(:numbers)", InvoiceOwner
)


async def invoices_numbered(tx: Transaction, numbers: Collection[int]) -> dict[int, InvoiceOwner]:
    """Return the invoices that have one of the numbers, by number."""
    rows = await tx.fetch_all(_INVOICES_NUMBERED, numbers=list(numbers))
    return {owner.invoice: owner for owner in rows}


_INVOICES_OF_ORDER = Statement(_BALANCES.format(SQL("order_id = :order_id")), InvoiceBalance)


async def invoices_of_order(tx: Transaction, order_id: int) -> list[InvoiceBalance]:
    """Return an order's invoices, paid or not, the oldest due date first."""
    return await tx.fetch_all(_INVOICES_OF_ORDER, order_id=order_id)


class FreeMoney(Struct, frozen=True):
    """A payment with unallocated money."""

    payment_id: int
    amount: Decimal


_FREE_MONEY = Statement("""
    select p.id, p.received_on,
           case when p.reversed_at is null and p.method <> 'refund' then p.amount - coalesce(a.amount, 0) else 0.00 end
    from (
        select * from payment where customer_id = :customer_id and id < :before order by id desc limit :most
    ) as p
    left join lateral (select sum(amount) as amount from allocation where payment_id = p.id) as a on true
    order by p.id desc
""")
_PAYMENTS_AT_ONCE = 100


async def free_money(tx: Transaction, customer_id: int) -> list[FreeMoney]:
    """Return a customer's payments with unallocated money, the oldest first.

    Reads its latest payments until they have all the money on the account, since older ones are mostly used up.
    """
    left, before, most = await unallocated_of(tx, customer_id), 2**63 - 1, _PAYMENTS_AT_ONCE
    found: list[tuple[date, int, Decimal]] = []
    while left > NOTHING:
        rows = await tx.fetch_all(_FREE_MONEY, customer_id=customer_id, before=before, most=most)
        found += [(received_on, payment_id, free) for payment_id, received_on, free in rows if free > NOTHING]
        left -= sum((free for _, _, free in rows), NOTHING)
        if len(rows) < most:
            break
        before, most = rows[-1][0], 4 * most
    return [FreeMoney(payment_id, free) for _, payment_id, free in sorted(found)]


class AllocatedMoney(Struct, frozen=True):
    """The money that a payment gave to an invoice."""

    payment_id: int
    invoice: int
    order_id: int
    amount: Decimal


_ALLOCATED = SQL("""
    select a.payment_id, a.invoice, b.order_id, sum(a.amount) as amount
    from allocation a join invoice_balance b using (invoice)
    where {} group by 1, 2, 3 having sum(a.amount) <> 0 order by {}
""")
_ALLOCATED_BY = Statement(
    _ALLOCATED.format(SQL("a.payment_id = any(:payment_ids)"), SQL("a.payment_id, a.invoice")), AllocatedMoney
)


async def allocated_by(tx: Transaction, payment_ids: Sequence[int]) -> list[AllocatedMoney]:
    """Return the invoices that payments pay."""
    return await tx.fetch_all(_ALLOCATED_BY, payment_ids=list(payment_ids))


_ALLOCATED_TO = Statement(_ALLOCATED.format(SQL("a.invoice = :invoice"), SQL("max(a.id) desc")), AllocatedMoney)


async def allocated_to(tx: Transaction, invoice: int) -> list[AllocatedMoney]:
    """Return the payments that pay an invoice, the latest first."""
    return await tx.fetch_all(_ALLOCATED_TO, invoice=invoice)


_REFUNDED = Statement(
    "select payment_id, sum(amount) as amount from allocation where refund_id = :refund_id"
    " group by payment_id having sum(amount) <> 0 order by payment_id",
    FreeMoney,
)


async def refunded_by(tx: Transaction, refund_id: int) -> list[FreeMoney]:
    """Return the payments whose money a refund has given back."""
    return await tx.fetch_all(_REFUNDED, refund_id=refund_id)


_REFUNDED_AMONG = Statement(
    "select payment_id from allocation where payment_id = any(:payment_ids) and refund_id is not null"
    " group by payment_id having sum(amount) <> 0 order by payment_id limit 1"
)


async def refunded_among(tx: Transaction, payment_ids: Sequence[int]) -> int | None:
    """Return the first payment that refunds have given back, at least in part, or None."""
    payment_id: int | None = await tx.find_value(_REFUNDED_AMONG, payment_ids=list(payment_ids))
    return payment_id


_ADD_UNALLOCATED = Statement(
    "update account_balance set unallocated = unallocated + :amount where customer_id = :customer_id"
)


def add_unallocated(tx: Transaction, customer_id: int, amount: Decimal) -> None:
    """Add to the money on a locked account, or subtract from it."""
    tx.queue(_ADD_UNALLOCATED, customer_id=customer_id, amount=amount)


# On statements, money cannot pay an invoice before the invoice is issued.
_ALLOCATE = Statement("""
    with share as (
        select * from json_to_recordset(:shares::json) as s (payment_id bigint, invoice bigint, amount numeric)
    ), settled as (
        update invoice_balance b set paid = paid + s.amount
        from (select invoice, sum(amount) as amount from share group by invoice) as s where b.invoice = s.invoice
    )
    insert into allocation (payment_id, invoice, amount, at)
    select payment_id, invoice, amount,
           greatest(coalesce(:at::timestamptz, (select counts_from from payment where id = payment_id)),
                    (select issued_at from invoice where number = invoice))
    from share
""")
_ALLOCATE_REFUND = Statement(
    "insert into allocation (payment_id, refund_id, amount, at) values (:payment_id, :refund_id, :amount, :at)"
)
_CREDIT_INVOICE = Statement("update invoice_balance set credited = credited + :amount where invoice = :invoice")


def allocate(tx: Transaction, shares: Sequence[AllocatedMoney], at: datetime | None) -> None:
    """Give money of payments to invoices, from `at`, or without it from when each payment counts.

    A negative amount takes it back.
    """
    if shares:
        tx.queue(_ALLOCATE, shares=json_of(shares), at=at)


def allocate_refund(tx: Transaction, payment_id: int, refund_id: int, amount: Decimal, at: datetime) -> None:
    """Give money of a payment back with a refund; a negative `amount` undoes that."""
    tx.queue(_ALLOCATE_REFUND, payment_id=payment_id, refund_id=refund_id, amount=amount, at=at)


def credit_invoice(tx: Transaction, invoice: int, amount: Decimal) -> None:
    """Add a credit note's gross to what is credited of an invoice."""
    tx.queue(_CREDIT_INVOICE, invoice=invoice, amount=amount)
