"""Invoices and credit notes of all customers as tables: sorted by a column, page by page."""

from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace
from psycopg.sql import SQL

from tradecounter.billing.queries.invoice_records import StatedInvoice
from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import NOTHING
from tradecounter.orders.queries.orders import NAMED_ORDERS

_NUMBER, _AMOUNT = SQL("bigint"), SQL("numeric")


class InvoiceRow(StatedInvoice, frozen=True, kw_only=True):
    """An invoice in a table, with its customer's name."""

    customer: str

    def days_late(self, now: datetime) -> int:
        """Return for how many days something is overdue; 0 for nothing."""
        return (uk_date(now) - uk_date(self.due_at)).days if self.due and self.due_at < now else 0


class InvoiceTableFilter(Struct, frozen=True, kw_only=True):
    """A filter of invoices; None matches all. `issued_to` is exclusive, `overdue_at` selects what is overdue then."""

    number: int | None = None
    customer_id: int | None = None
    order_reference: str | None = None
    issued_from: datetime | None = None
    issued_to: datetime | None = None
    unpaid: bool | None = None
    overdue_at: datetime | None = None


INVOICES: SortedTable[InvoiceRow] = SortedTable(
    # Balances are narrow rows with all that invoices are sorted by; invoices have documents.
    select=SQL("select b.* from invoice_balance b"),
    joined=lambda page: SQL("""
        select b.invoice as number, o.order_reference, b.customer_id, {name} as customer, i.issued_at, i.supplied_at,
               b.due_at, i.net, i.vat, b.gross, b.paid, b.credited, b.due
        from ({page}) as b join invoice i on i.number = b.invoice join orders o on o.id = b.order_id
        join customer c on c.id = b.customer_id
    """).format(name=CUSTOMER_NAME, page=page),
    row=InvoiceRow,
    conditions={
        "number": SQL("b.invoice = :number"),
        "customer_id": SQL("b.customer_id = :customer_id"),
        "order_reference": SQL("b.order_id in {}").format(NAMED_ORDERS),
        "issued_from": SQL("i.issued_at >= :issued_from"),
        "issued_to": SQL("i.issued_at < :issued_to"),
        # the second part lets the planner use the index of what is unpaid
        "unpaid": SQL("(b.due > 0) = :unpaid::boolean and (b.due > 0 or not :unpaid::boolean)"),
        "overdue_at": SQL("b.due > 0 and b.due_at < :overdue_at"),
    },
    columns={
        "number": SortColumn(SQL("b.invoice"), _NUMBER, int, lambda row: row.number),
        "gross": SortColumn(SQL("b.gross"), _AMOUNT, Decimal, lambda row: row.gross),
        "due": SortColumn(SQL("b.due"), _AMOUNT, Decimal, lambda row: row.due),
        "due_on": SortColumn(SQL("b.due_at"), SQL("timestamptz"), datetime, lambda row: row.due_at),
    },
    key=SQL("b.invoice"),
    key_of=lambda row: row.number,
)
_ISSUED = replace(INVOICES, select=SQL("select b.* from invoice_balance b join invoice i on i.number = b.invoice"))


def invoices_for(wanted: InvoiceTableFilter) -> SortedTable[InvoiceRow]:
    """Return the table for a filter: only that of moments of issue reads the invoices themselves."""
    return INVOICES if wanted.issued_from is None and wanted.issued_to is None else _ISSUED


class DueInAll(Struct, frozen=True):
    """How many invoices a filter finds, and what is due of them."""

    invoices: int
    due: Decimal


async def due_in_all(tx: Transaction, wanted: InvoiceTableFilter) -> DueInAll:
    """Return what is due of all invoices that match a filter."""
    table = invoices_for(wanted)
    conditions, values = where(wanted, table.conditions)
    sql = SQL("select count(*) as invoices, coalesce(sum(due), 0.00) as due from ({} where {}) as b").format(
        table.select, conditions
    )
    found = await tx.fetch_one(Statement(sql, DueInAll, prepared=False), **values)
    return found or DueInAll(0, NOTHING)


class CreditNoteRow(Struct, frozen=True):
    """A credit note in a table."""

    number: int
    invoice: int
    customer_id: int
    customer: str
    issued_at: datetime
    reason: str
    net: Decimal
    vat: Decimal
    gross: Decimal


class CreditNoteTableFilter(Struct, frozen=True, kw_only=True):
    """A filter of credit notes; None matches all. `issued_to` is exclusive."""

    customer_id: int | None = None
    invoice: int | None = None
    issued_from: datetime | None = None
    issued_to: datetime | None = None


CREDIT_NOTES: SortedTable[CreditNoteRow] = SortedTable(
    select=SQL("""
        select n.number, n.invoice, n.customer_id, {name} as customer, n.issued_at, n.reason, n.net, n.vat, n.gross
        from credit_note n join customer c on c.id = n.customer_id
    """).format(name=CUSTOMER_NAME),
    row=CreditNoteRow,
    conditions={
        "customer_id": SQL("n.customer_id = :customer_id"),
        "invoice": SQL("n.invoice = :invoice"),
        "issued_from": SQL("n.issued_at >= :issued_from"),
        "issued_to": SQL("n.issued_at < :issued_to"),
    },
    columns={
        "number": SortColumn(SQL("n.number"), _NUMBER, int, lambda row: row.number),
        "gross": SortColumn(SQL("n.gross"), _AMOUNT, Decimal, lambda row: row.gross),
    },
    key=SQL("n.number"),
    key_of=lambda row: row.number,
)
