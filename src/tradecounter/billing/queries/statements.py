"""The entries of customers' accounts, and what was due at a moment."""

from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.billing.queries.ledger import InvoiceBalance
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class EntryRecord(Struct, frozen=True):
    """An entry of a customer's account; `kind` is `invoice`, `credit_note`, `payment`, `refund` or `reversal`."""

    at: datetime
    kind: str
    number: int
    description: str
    debit: Decimal
    credit: Decimal


# Money that counts from the moment of an invoice pays it, so the invoice comes first.
_ENTRIES = SQL("""
    select i.issued_at as at, 1 as rank, 'invoice' as kind, i.number,
           'Order ' || o.order_reference || ', your reference ' || o.customer_reference as description,
           i.gross as debit, 0.00 as credit
    from invoice i join orders o on o.id = i.order_id where i.customer_id = :customer_id
    union all
    select issued_at, 2, 'credit_note', number, 'Invoice ' || invoice || ': ' || reason, 0.00, gross
    from credit_note where customer_id = :customer_id
    union all
    select counts_from, 3, case method when 'refund' then 'refund' else 'payment' end, id, reference,
           case method when 'refund' then amount else 0.00 end, case method when 'refund' then 0.00 else amount end
    from payment where customer_id = :customer_id
    union all
    select reversed_at, 4, 'reversal', id, reversal_reason,
           case method when 'refund' then 0.00 else amount end, case method when 'refund' then amount else 0.00 end
    from payment where customer_id = :customer_id and reversed_at is not null
""")


_ENTRIES_BETWEEN = Statement(
    SQL(
        "select at, kind, number, description, debit, credit from ({}) as entry"
        " where at >= :since::timestamptz and at < :until::timestamptz order by at, rank, number"
    ).format(_ENTRIES),
    EntryRecord,
)


async def entries_between(tx: Transaction, customer_id: int, since: datetime, until: datetime) -> list[EntryRecord]:
    """Return the entries of a customer's account from one moment until before another, oldest first."""
    return await tx.fetch_all(_ENTRIES_BETWEEN, customer_id=customer_id, since=since, until=until)


# What the account owes now, less the entries since: a statement is mostly of the last weeks, and an account of years.
_BALANCE_BEFORE = Statement(
    SQL("""
    select coalesce((select sum(due) from invoice_balance where customer_id = :customer_id and due > 0), 0.00)
           - coalesce((select unallocated from account_balance where customer_id = :customer_id), 0.00)
           - coalesce((select sum(debit - credit) from ({}) as entry where at >= :until::timestamptz), 0.00)
    """).format(_ENTRIES)
)


async def balance_before(tx: Transaction, customer_id: int, until: datetime) -> Decimal:
    """Return what a customer owed just before a moment; negative if the account was in credit."""
    balance: Decimal = await tx.fetch_value(_BALANCE_BEFORE, customer_id=customer_id, until=until)
    return balance


_DUE_AT = Statement(
    """
    select i.number as invoice, i.order_id, i.gross - coalesce(c.credited, 0) - coalesce(a.paid, 0) as due, i.due_at
    from invoice i
    left join lateral (
        select sum(gross) as credited from credit_note where invoice = i.number and issued_at < :until
    ) as c on true
    left join lateral (select sum(amount) as paid from allocation where invoice = i.number and at < :until) as a on true
    where i.customer_id = :customer_id and i.issued_at < :until
      and i.gross > coalesce(c.credited, 0) + coalesce(a.paid, 0)
    """,
    InvoiceBalance,
)


async def due_before(tx: Transaction, customer_id: int, until: datetime) -> list[InvoiceBalance]:
    """Return what was due of a customer's invoices just before a moment in the past; reads all of its invoices."""
    return await tx.fetch_all(_DUE_AT, customer_id=customer_id, until=until)
