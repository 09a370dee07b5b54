"""Reading what is billed: dispatched lines, invoices, what is left to pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from psycopg.sql import SQL

from tradecounter.db.raw_rows import RawRows
from tradecounter.db.rows import fetch_all, fetch_one, fetch_raw, fetch_value
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


async def supplied_lines(tx: Transaction, order_id: int) -> list[SuppliedLine]:
    """Return an order's lines, in order of position."""
    return await fetch_all(
        tx,
        SuppliedLine,
        """
        select id, bundle_line_id, sku, name, quantity, unit_cost, cost_net, cost_tax, dispatched,
               array(select s.serial_number from serial_number s where s.line_id = l.id order by s.id)
                   as serial_numbers
        from order_line l where order_id = %s order by position
        """,
        [order_id],
    )


async def last_dispatch(tx: Transaction, order_id: int) -> datetime | None:
    """Return when the last of what has left of an order did so."""
    last: datetime | None = await fetch_value(
        tx, "select max(dispatched_at) from shipment where order_id = %s", [order_id]
    )
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


async def invoice_numbers(tx: Transaction, order_ids: Sequence[int]) -> dict[int, int]:
    """Return the numbers of the invoices that there are, by the orders' internal ids."""
    found = await fetch_all(
        tx, _Numbered, "select order_id, number from invoice where order_id = any(%s)", [list(order_ids)]
    )
    return {invoice.order_id: invoice.number for invoice in found}


async def find_invoice(tx: Transaction, order_id: int) -> Invoice | None:
    """Return an order's invoice, by the order's internal id."""
    return await fetch_one(tx, Invoice, "select number, due_at, gross from invoice where order_id = %s", [order_id])


@dataclass(frozen=True, slots=True)
class PrintedInvoice:
    """An invoice as a PDF file."""

    number: int
    pdf: bytes


async def find_printed_invoice(tx: Transaction, order_id: int) -> PrintedInvoice | None:
    """Return an order's invoice as a PDF file, by the order's internal id."""
    return await fetch_one(tx, PrintedInvoice, "select number, pdf from invoice where order_id = %s", [order_id])


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


async def debts_of(tx: Transaction, customer_id: int) -> RawRows[Debt]:
    """Return a customer's confirmed orders with something left to pay, oldest first."""
    return await fetch_raw(
        tx,
        Debt,
        SQL(
            "{} where customer_id = %s and state = 'confirmed' and paid < o.gross order by confirmed_at, o.number"
        ).format(_DEBT),
        [customer_id],
    )


async def find_debt(tx: Transaction, order_id: int) -> Debt:
    """Return a confirmed order's debt, by the order's internal id; it may be paid."""
    debt = await fetch_one(tx, Debt, SQL("{} where o.id = %s").format(_DEBT), [order_id])
    if debt is None:
        raise LookupError(f"no order {order_id}")
    return debt
