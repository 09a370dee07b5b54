"""The data of e-mails about money: invoices, credit notes and payments."""

from datetime import date, datetime
from decimal import Decimal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class InvoiceFacts(Struct, frozen=True):
    """An invoice, and what is paid, credited and due of it."""

    number: int
    order_id: int
    order_reference: str
    customer_reference: str
    issued_at: datetime
    due_at: datetime
    gross: Decimal
    paid: Decimal
    credited: Decimal
    due: Decimal
    pdf: bytes


_INVOICE_FACTS = SQL("""
    select i.number, i.order_id, o.order_reference, o.customer_reference, i.issued_at, i.due_at, i.gross, b.paid,
           b.credited, b.due, i.pdf
    from invoice i join invoice_balance b on b.invoice = i.number join orders o on o.id = i.order_id
""")
_FIND_INVOICE = Statement(
    SQL("{} where i.order_id = :order_id and i.number = coalesce(:number, i.number) order by i.number limit 1").format(
        _INVOICE_FACTS
    ),
    InvoiceFacts,
)


async def find_invoice_facts(tx: Transaction, order_id: int, number: int | None) -> InvoiceFacts | None:
    """Return an order's invoice by its number; without a number, the order's first invoice."""
    return await tx.fetch_one(_FIND_INVOICE, order_id=order_id, number=number)


class CreditNoteFacts(Struct, frozen=True):
    """A credit note."""

    number: int
    invoice: int
    issued_at: datetime
    reason: str
    gross: Decimal
    pdf: bytes


_CREDIT_NOTE_FACTS = Statement(
    "select number, invoice, issued_at, reason, gross, pdf from credit_note where number = :number", CreditNoteFacts
)


async def find_credit_note_facts(tx: Transaction, number: int) -> CreditNoteFacts | None:
    """Return a credit note."""
    return await tx.fetch_one(_CREDIT_NOTE_FACTS, number=number)


_PAID_INVOICES = Statement(
    SQL(
        "{} where i.number in (select invoice from allocation where payment_id = :payment_id group by invoice"
        " having sum(amount) > 0) order by i.number"
    ).format(_INVOICE_FACTS),
    InvoiceFacts,
)


async def paid_invoices(tx: Transaction, payment_id: int) -> list[InvoiceFacts]:
    """Return the invoices that a payment pays."""
    return await tx.fetch_all(_PAID_INVOICES, payment_id=payment_id)


class PaymentFacts(Struct, frozen=True):
    """A payment, its customer, and when it was reversed."""

    id: int
    customer_id: int
    amount: Decimal
    received_on: date
    recorded_at: datetime
    reversed_at: datetime | None


_PAYMENT_FACTS = Statement(
    "select id, customer_id, amount, received_on, recorded_at, reversed_at from payment where id = :payment_id",
    PaymentFacts,
)


async def find_payment_facts(tx: Transaction, payment_id: int) -> PaymentFacts | None:
    """Return a payment, or None."""
    return await tx.fetch_one(_PAYMENT_FACTS, payment_id=payment_id)
