"""Finds invoices, of any customer or of one."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct
from psycopg.sql import SQL, Composable

from tradecounter.billing.invoice_document import InvoiceDocument, InvoiceLine
from tradecounter.billing.rules import InvoiceState, invoice_state
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.money import NOTHING
from tradecounter.orders.queries.orders import NAMED_ORDERS, REFERRED_TO


class StatedInvoice(Struct, frozen=True, kw_only=True):
    """An invoice with its amounts in pounds, including shipping, and what is paid and credited."""

    number: int
    order_reference: str
    customer_id: int
    issued_at: datetime
    supplied_at: datetime
    due_at: datetime
    net: Decimal
    vat: Decimal
    gross: Decimal
    paid: Decimal
    credited: Decimal
    due: Decimal

    def state(self, now: datetime) -> InvoiceState:
        """Return the state that people see."""
        return invoice_state(self.due, self.paid, self.credited, self.due_at, now)


class InvoiceRecord(StatedInvoice, frozen=True, kw_only=True):
    """An invoice with its order's names; `order_id` is internal."""

    order_id: int
    customer_reference: str


class DocumentFilter(Struct, frozen=True, kw_only=True):
    """A filter of invoices or of credit notes; `order_id` is internal.

    `issued_to` is exclusive; `before` selects those with lower numbers. `reference`, which needs
    the customer, is an order's reference, or a part of the customer's own; `order_reference` is the whole one.
    """

    customer_id: int | None = None
    order_id: int | None = None
    issued_from: datetime | None = None
    issued_to: datetime | None = None
    before: int | None = None
    reference: str | None = None
    order_reference: str | None = None
    changed_since: datetime | None = None


class InvoiceFilter(DocumentFilter, frozen=True, kw_only=True):
    """A filter of invoices; `overdue_at` selects those that are overdue then."""

    unpaid: bool = False
    overdue_at: datetime | None = None


_INVOICES = SQL(
    "select i.number, i.order_id, o.order_reference, o.customer_reference, i.customer_id,"
    " i.issued_at, i.supplied_at, i.due_at, i.net, i.vat, i.gross, b.paid, b.credited, b.due"
    " from invoice i join invoice_balance b on b.invoice = i.number join orders o on o.id = i.order_id"
)
_WITH_BALANCE = SQL("i.number in (select invoice from invoice_balance where {})")
# Of invoices alone, so that their indexes count them, and pass over those before a page.
_CONDITIONS = {
    "customer_id": SQL("i.customer_id = :customer_id"),
    "order_id": SQL("i.order_id = :order_id"),
    "issued_from": SQL("i.issued_at >= :issued_from"),
    "issued_to": SQL("i.issued_at < :issued_to"),
    "overdue_at": _WITH_BALANCE.format(SQL("due > 0 and due_at < :overdue_at")),
    "before": SQL("i.number < :before"),
    "changed_since": _WITH_BALANCE.format(SQL("changed_at >= :changed_since")),
    "reference": SQL("i.order_id in {}").format(REFERRED_TO),
    "order_reference": SQL("i.order_id in {}").format(NAMED_ORDERS),
}
_UNPAID = _WITH_BALANCE.format(SQL("due > 0"))


async def list_invoices(tx: Transaction, wanted: InvoiceFilter, most: int, start: int = 0) -> list[InvoiceRecord]:
    """Return the latest invoices that match a filter, from a position on."""
    chosen, values = _chosen(wanted)
    sql = SQL("""
        {} where i.number in (select i.number from invoice i where {} order by i.number desc offset :start limit :most)
        order by i.number desc
    """).format(_INVOICES, chosen)
    return await tx.fetch_all(Statement(sql, InvoiceRecord), **values, most=most, start=start)


_TO_PAY = Statement(
    SQL("{} where i.customer_id = :customer_id and b.due > 0 order by b.due_at, i.number limit :most").format(
        _INVOICES
    ),
    InvoiceRecord,
)


async def invoices_to_pay(tx: Transaction, customer_id: int, most: int | None = None) -> list[InvoiceRecord]:
    """Return a customer's invoices that are not paid in full, the oldest due date first; without `most`, all."""
    return await tx.fetch_all(_TO_PAY, customer_id=customer_id, most=most)


_OF_ORDER = Statement(SQL("{} where i.order_id = :order_id order by i.number").format(_INVOICES), InvoiceRecord)


async def whole_invoices_of(tx: Transaction, order_id: int) -> list[InvoiceRecord]:
    """Return an order's invoices, by the order's internal id, oldest first."""
    return await tx.fetch_all(_OF_ORDER, order_id=order_id)


_PAID_BY = Statement(
    SQL(
        "{} where i.number in (select invoice from allocation where payment_id = :payment_id group by invoice"
        " having sum(amount) > 0) order by i.number"
    ).format(_INVOICES),
    InvoiceRecord,
)


async def invoices_paid_by(tx: Transaction, payment_id: int) -> list[InvoiceRecord]:
    """Return the invoices that a payment pays, oldest first."""
    return await tx.fetch_all(_PAID_BY, payment_id=payment_id)


async def count_invoices(tx: Transaction, wanted: InvoiceFilter) -> int:
    """Return how many invoices match a filter."""
    chosen, values = _chosen(wanted)
    sql = SQL("select count(*) from invoice i where {}").format(chosen)
    return int(await tx.fetch_value(Statement(sql), **values))


def _chosen(wanted: InvoiceFilter) -> tuple[Composable, dict[str, Any]]:
    """Return the condition of a filter and its values."""
    return where(wanted, _CONDITIONS, *([_UNPAID] if wanted.unpaid else []))


_THE_INVOICE = Statement(SQL("{} where i.number = :number").format(_INVOICES), InvoiceRecord)


async def fetch_invoice(tx: Transaction, number: int, customer_id: int | None = None) -> InvoiceRecord:
    """Return an invoice, of any customer or of one. Raises DomainError (not found)."""
    invoice = await tx.find_row(_THE_INVOICE, number=number)
    if invoice is None or customer_id not in {None, invoice.customer_id}:
        raise not_found("invoice", number)
    return invoice


_FIND_INVOICES = Statement(
    SQL(
        "{} where (i.number = :number or i.gross = :gross or i.order_id = any(:order_ids::bigint[]))"
        " and (:customer_id::bigint is null or i.customer_id = :customer_id)"
        " order by i.number = :number desc nulls last, i.gross = :gross desc nulls last, i.number desc limit :most"
    ).format(_INVOICES),
    InvoiceRecord,
)


async def find_invoices(
    tx: Transaction,
    number: int | None,
    gross: Decimal | None,
    orders: Sequence[int],
    most: int,
    customer_id: int | None = None,
) -> list[InvoiceRecord]:
    """Return the invoice with a number, then the latest with a total, then those of some orders by internal id.

    With `customer_id`, only invoices of this customer.
    """
    wanted = {"number": number, "gross": gross, "order_ids": list(orders), "customer_id": customer_id}
    return await tx.fetch_all(_FIND_INVOICES, **wanted, most=most)


_INVOICE_DOCUMENT = Statement("select document from invoice where number = :number")


async def invoice_document(tx: Transaction, number: int) -> InvoiceDocument:
    """Return an invoice as data. Raises LookupError when it does not exist."""
    [document] = await tx.fetch_row(_INVOICE_DOCUMENT, number=number)
    return msgspec.convert(document, InvoiceDocument)


class PrintedLines(Struct, frozen=True):
    """The lines of an invoice, and the id of the order's line for each: None for the shipping."""

    line_ids: Sequence[int | None]
    lines: Sequence[InvoiceLine]


_PRINTED_LINES = Statement("""
    select i.number, i.document -> 'lines',
           (select array_agg(l.line_id order by l.position) from invoice_line l where l.invoice = i.number)
    from invoice i where i.number = any(:numbers::bigint[])
""")


async def lines_of_invoices(tx: Transaction, numbers: Sequence[int]) -> dict[int, PrintedLines]:
    """Return the lines of invoices by their numbers."""
    rows = await tx.fetch_all(_PRINTED_LINES, numbers=list(numbers))
    return {number: PrintedLines(ids, msgspec.convert(lines, list[InvoiceLine])) for number, lines, ids in rows}


_OVERDUE_OF = Statement("""
    select customer_id, sum(due) from invoice_balance
    where customer_id = any(:customer_ids) and due > 0 and due_at < :now group by customer_id
""")


async def overdue_of(tx: Transaction, customer_id: int, now: datetime) -> Decimal:
    """Return what is due of a customer's invoices past their due date, in pounds."""
    return (await overdue_by_customer(tx, [customer_id], now)).get(customer_id, NOTHING)


async def overdue_by_customer(tx: Transaction, customer_ids: Sequence[int], now: datetime) -> dict[int, Decimal]:
    """Return the overdue pounds of each customer that owes any."""
    return dict(await tx.fetch_all(_OVERDUE_OF, customer_ids=list(customer_ids), now=now))
