"""Invoices, payments and debts. Invoices and payments never change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from msgspec import to_builtins
from psycopg.sql import SQL
from psycopg.types.json import Jsonb

from tradecounter.billing.invoice_document import InvoiceDocument
from tradecounter.db.raw_rows import RawRows
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_SERIAL_NUMBERS = Statement(
    "select s.line_id, array_agg(s.serial_number order by s.id) from serial_number s"
    " join order_line l on l.id = s.line_id where l.order_id = :order_id group by s.line_id"
)


async def serial_numbers_of(tx: Transaction, order_id: int) -> dict[int, list[str]]:
    """Return the serial numbers of an order's dispatched units by line id."""
    return dict(await tx.fetch_all(_SERIAL_NUMBERS, order_id=order_id))


_LAST_DISPATCH = Statement("select max(dispatched_at) from shipment where order_id = :order_id")


async def last_dispatch(tx: Transaction, order_id: int) -> datetime | None:
    """Return when the order's last shipment was dispatched; None without shipments."""
    last: datetime | None = await tx.fetch_value(_LAST_DISPATCH, order_id=order_id)
    return last


@dataclass(frozen=True, slots=True)
class Invoice:
    """An issued invoice without its document."""

    number: int
    due_at: datetime
    gross: Decimal


_INVOICE_NUMBERS = Statement("select order_id, number from invoice where order_id = any(:order_ids)")


async def invoice_numbers(tx: Transaction, order_ids: Sequence[int]) -> dict[int, int]:
    """Return the invoice numbers of invoiced orders, by internal id."""
    return dict(await tx.fetch_all(_INVOICE_NUMBERS, order_ids=list(order_ids)))


_FIND_INVOICE = Statement("select number, due_at, gross from invoice where order_id = :order_id", Invoice)


async def find_invoice(tx: Transaction, order_id: int) -> Invoice | None:
    """Return an order's invoice, by the order's internal id."""
    return await tx.fetch_one(_FIND_INVOICE, order_id=order_id)


@dataclass(frozen=True, slots=True)
class PrintedInvoice:
    """An invoice as a PDF file."""

    number: int
    pdf: bytes


_FIND_PRINTED_INVOICE = Statement("select number, pdf from invoice where order_id = :order_id", PrintedInvoice)


async def find_printed_invoice(tx: Transaction, order_id: int) -> PrintedInvoice | None:
    """Return an order's invoice as a PDF file, by the order's internal id."""
    return await tx.fetch_one(_FIND_PRINTED_INVOICE, order_id=order_id)


_DEBT = SQL(
    "select order_reference, customer_reference, o.gross, paid, term_days, confirmed_at, i.due_at"
    " from orders o left join invoice i on i.order_id = o.id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Debt:
    """The gross and the paid amount of a confirmed order; `due_at` is None until it is invoiced."""

    order_reference: str
    customer_reference: str
    gross: Decimal
    paid: Decimal
    term_days: int
    confirmed_at: datetime
    due_at: datetime | None


_DEBTS_OF = Statement(
    SQL(
        "{} where customer_id = :customer_id and state = 'confirmed' and paid < o.gross order by confirmed_at, o.number"
    ).format(_DEBT),
    Debt,
)


async def debts_of(tx: Transaction, customer_id: int) -> RawRows[Debt]:
    """Return the debts of a customer's confirmed orders that are not fully paid, oldest first."""
    return await tx.fetch_raw(_DEBTS_OF, customer_id=customer_id)


_FIND_DEBT = Statement(SQL("{} where o.id = :order_id").format(_DEBT), Debt)


async def find_debt(tx: Transaction, order_id: int) -> Debt:
    """Return a confirmed order's debt, paid or not, by the order's internal id. Raises LookupError."""
    debt = await tx.fetch_one(_FIND_DEBT, order_id=order_id)
    if debt is None:
        raise LookupError(f"no order {order_id}")
    return debt


_NEXT_INVOICE_NUMBER = Statement("update invoice_number set last = last + 1 returning last")


async def next_invoice_number(tx: Transaction) -> int:
    """Return the next invoice number, locked until the transaction ends.

    Numbers have no gaps: a rollback returns the number.
    """
    number: int = await tx.fetch_value(_NEXT_INVOICE_NUMBER)
    return number


_INSERT_INVOICE = Statement("""
    insert into invoice (number, order_id, issued_at, supplied_at, due_at, gross, document, pdf)
    values (:number, :order_id, :issued_at, :supplied_at, :due_at, :gross, :document, :pdf)
""")


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
    """Store an invoice as data and as a PDF file."""
    await tx.execute(
        _INSERT_INVOICE,
        number=document.number,
        order_id=order_id,
        issued_at=issued_at,
        supplied_at=supplied_at,
        due_at=due_at,
        gross=document.gross,
        document=Jsonb(to_builtins(document)),
        pdf=pdf,
    )


_INSERT_PAYMENT = Statement(
    "insert into payment (invoice, amount, paid_at) values (:invoice_number, :amount, :paid_at) returning id"
)


async def insert_payment(tx: Transaction, invoice_number: int, amount: Decimal, paid_at: datetime) -> int:
    """Store a payment against an invoice; return its id."""
    payment_id: int = await tx.fetch_value(
        _INSERT_PAYMENT, invoice_number=invoice_number, amount=amount, paid_at=paid_at
    )
    return payment_id
