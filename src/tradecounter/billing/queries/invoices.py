"""What is billed: dispatched lines, invoices, payments, what is left to pay. Invoices and payments never change."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppliedLine:
    """A line of an order with how much of it has left and its units' serial numbers.

    `bundle_line_id` is set on what a bundle holds.
    """

    id: int
    bundle_line_id: int | None
    sku: str
    name: str
    quantity: int
    unit_cost: Decimal
    cost_net: Decimal
    cost_tax: Decimal
    dispatched: int
    serial_numbers: list[str]


_SUPPLIED_LINES = Statement(
    """
    select id, bundle_line_id, sku, name, quantity, unit_cost, cost_net, cost_tax, dispatched,
           array(select s.serial_number from serial_number s where s.line_id = l.id order by s.id)
               as serial_numbers
    from order_line l where order_id = :order_id order by position
    """,
    SuppliedLine,
)


async def supplied_lines(tx: Transaction, order_id: int) -> list[SuppliedLine]:
    """Return an order's lines, in order of position."""
    return await tx.fetch_all(_SUPPLIED_LINES, order_id=order_id)


_LAST_DISPATCH = Statement("select max(dispatched_at) from shipment where order_id = :order_id")


async def last_dispatch(tx: Transaction, order_id: int) -> datetime | None:
    """Return when the last of what has left of an order did so."""
    last: datetime | None = await tx.fetch_value(_LAST_DISPATCH, order_id=order_id)
    return last


@dataclass(frozen=True, slots=True)
class Invoice:
    """An issued invoice without its document."""

    number: int
    due_at: datetime
    gross: Decimal


@dataclass(frozen=True, slots=True)
class _Numbered:
    order_id: int
    number: int


_INVOICE_NUMBERS = Statement("select order_id, number from invoice where order_id = any(:order_ids)", _Numbered)


async def invoice_numbers(tx: Transaction, order_ids: Sequence[int]) -> dict[int, int]:
    """Return the numbers of the invoices that there are, by the orders' internal ids."""
    found = await tx.fetch_all(_INVOICE_NUMBERS, order_ids=list(order_ids))
    return {invoice.order_id: invoice.number for invoice in found}


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
    """What was to pay and is paid of a confirmed order; `due_at` is None until it is invoiced."""

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
    """Return a customer's confirmed orders with something left to pay, oldest first."""
    return await tx.fetch_raw(_DEBTS_OF, customer_id=customer_id)


_FIND_DEBT = Statement(SQL("{} where o.id = :order_id").format(_DEBT), Debt)


async def find_debt(tx: Transaction, order_id: int) -> Debt:
    """Return a confirmed order's debt, by the order's internal id; it may be paid."""
    debt = await tx.fetch_one(_FIND_DEBT, order_id=order_id)
    if debt is None:
        raise LookupError(f"no order {order_id}")
    return debt


_NEXT_INVOICE_NUMBER = Statement("update invoice_number set last = last + 1 returning last")


async def next_invoice_number(tx: Transaction) -> int:
    """Return the next invoice number; nobody else gets one until this transaction ends.

    Numbers have no gaps: one that was taken in a transaction that is rolled back is given again.
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
    """Store an invoice for ever, as data and as a PDF file."""
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
