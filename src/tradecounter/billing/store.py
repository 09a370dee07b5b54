"""Writing invoices and payments; neither ever changes."""

from datetime import datetime
from decimal import Decimal

from msgspec import to_builtins
from psycopg.types.json import Jsonb

from tradecounter.billing.invoice_document import InvoiceDocument
from tradecounter.db.rows import execute, fetch_value
from tradecounter.db.transaction import Transaction


async def next_invoice_number(tx: Transaction) -> int:
    """Return the next invoice number; nobody else gets one until this transaction ends.

    Numbers have no gaps: one that was taken in a transaction that is rolled back is given again.
    """
    number: int = await fetch_value(tx, "update invoice_number set last = last + 1 returning last")
    return number


async def insert_invoice(
    tx: Transaction,
    order_id: int,
    document: InvoiceDocument,
    pdf: bytes,
    *,
    issued_at: datetime,
    supplied_at: datetime,
    due_at: datetime,
) -> None:
    """Store an invoice for ever, as data and as a PDF file."""
    await execute(
        tx,
        """
        insert into invoice (number, order_id, issued_at, supplied_at, due_at, gross, document, pdf)
        values (%s, %s, %s, %s, %s, %s, %s, %s)
        """,
        [
            document.number,
            order_id,
            issued_at,
            supplied_at,
            due_at,
            document.gross,
            Jsonb(to_builtins(document)),
            pdf,
        ],
    )


async def insert_payment(tx: Transaction, invoice_number: int, amount: Decimal, paid_at: datetime) -> int:
    """Store a payment against an invoice; return its id."""
    payment_id: int = await fetch_value(
        tx,
        "insert into payment (invoice, amount, paid_at) values (%s, %s, %s) returning id",
        [invoice_number, amount, paid_at],
    )
    return payment_id
