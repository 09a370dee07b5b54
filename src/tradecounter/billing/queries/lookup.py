"""Finds invoices of any customer, for the operator."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal

import msgspec
from psycopg.sql import SQL

from tradecounter.billing.invoice_document import InvoiceDocument
from tradecounter.billing.queries.invoices import PrintedInvoice
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceRecord:
    """An invoice with the order's amounts in pounds, including shipping, and the paid part."""

    number: int
    order_id: int  # the internal id
    order_reference: str
    customer_id: int
    issued_at: datetime
    supplied_at: datetime
    due_at: datetime
    net: Decimal
    vat: Decimal
    gross: Decimal
    paid: Decimal

    @property
    def due(self) -> Decimal:
        """The unpaid part of the gross."""
        return self.gross - self.paid


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceFilter:
    """A filter of invoices. `issued_to` is exclusive; `overdue_at` selects invoices that are overdue then."""

    customer_id: int | None = None
    issued_from: datetime | None = None
    issued_to: datetime | None = None
    unpaid: bool = False
    overdue_at: datetime | None = None


_INVOICES = SQL(
    "select i.number, i.order_id, o.order_reference, o.customer_id, i.issued_at, i.supplied_at, i.due_at,"
    " o.cost_net + o.shipping_net as net, o.cost_tax + o.shipping_tax as vat, i.gross, o.paid from"
)
_ALL = SQL("invoice i join orders o on o.id = i.order_id")
# The planner overestimates the unpaid orders and would read all invoices; `offset 0` forces it to start with orders.
_UNPAID = SQL(
    "(select * from orders where state = 'confirmed' and paid < gross offset 0) as o"
    " cross join lateral (select * from invoice where order_id = o.id offset 0) as i"
)
_CONDITIONS = {
    # Invoiced orders are always confirmed; the second condition lets the index apply.
    "customer_id": SQL("o.customer_id = :customer_id and o.state = 'confirmed'"),
    "issued_from": SQL("i.issued_at >= :issued_from"),
    "issued_to": SQL("i.issued_at < :issued_to"),
    "overdue_at": SQL("i.due_at < :overdue_at"),
}


async def list_invoices(tx: Transaction, wanted: InvoiceFilter, most: int) -> list[InvoiceRecord]:
    """Return the latest invoices that match a filter."""
    values = {name: value for name, value in asdict(wanted).items() if name in _CONDITIONS and value is not None}
    source = _UNPAID if wanted.unpaid or wanted.overdue_at is not None else _ALL
    chosen = SQL(" and ").join([_CONDITIONS[name] for name in values] or [SQL("true")])
    sql = SQL("{} {} where {} order by i.number desc limit :most").format(_INVOICES, source, chosen)
    return await tx.fetch_all(Statement(sql, InvoiceRecord), **values, most=most)


_THE_INVOICE = Statement(SQL("{} {} where i.number = :number").format(_INVOICES, _ALL), InvoiceRecord)


async def the_invoice(tx: Transaction, number: int) -> InvoiceRecord:
    """Return an invoice. Raises DomainError (not found)."""
    found = await tx.fetch_one(_THE_INVOICE, number=number)
    if found is None:
        raise DomainError(Kind.NOT_FOUND, f"invoice {number} does not exist")
    return found


_INVOICE_DOCUMENT = Statement("select document from invoice where number = :number")


async def invoice_document(tx: Transaction, number: int) -> InvoiceDocument:
    """Return an invoice as data. Raises LookupError when it does not exist."""
    document = await tx.fetch_value(_INVOICE_DOCUMENT, number=number)
    if document is None:
        raise LookupError(f"no invoice {number}")
    return msgspec.convert(document, InvoiceDocument)


_INVOICED_ITEMS = Statement(
    "select id from order_line where order_id = :order_id and bundle_line_id is null order by position"
)


async def invoiced_items(tx: Transaction, order_id: int) -> list[int]:
    """Return the ids of an order's lines in the invoice's sequence, which ends with the shipping."""
    rows = await tx.fetch_all(_INVOICED_ITEMS, order_id=order_id)
    return [line_id for (line_id,) in rows]


_PRINTED_INVOICE = Statement("select number, pdf from invoice where number = :number", PrintedInvoice)


async def printed_invoice(tx: Transaction, number: int) -> PrintedInvoice:
    """Return an invoice as a PDF file. Raises DomainError (not found)."""
    found = await tx.fetch_one(_PRINTED_INVOICE, number=number)
    if found is None:
        raise DomainError(Kind.NOT_FOUND, f"invoice {number} does not exist")
    return found


_OVERDUE_OF = Statement("""
    select o.customer_id, sum(o.gross - o.paid) from orders o left join invoice i on i.order_id = o.id
    where o.customer_id = any(:customer_ids) and o.state = 'confirmed' and o.paid < o.gross
      and coalesce(i.due_at, ((o.confirmed_at at time zone 'Europe/London')::date + o.term_days + time '23:59:59')
                             at time zone 'Europe/London') < :now
    group by o.customer_id
""")


async def overdue_of(tx: Transaction, customer_id: int, now: datetime) -> Decimal:
    """Return a customer's overdue pounds; without an invoice, the term starts at the confirmation."""
    return (await overdue_by_customer(tx, [customer_id], now)).get(customer_id, NOTHING)


async def overdue_by_customer(tx: Transaction, customer_ids: Sequence[int], now: datetime) -> dict[int, Decimal]:
    """Return the overdue pounds of each customer that owes any."""
    return dict(await tx.fetch_all(_OVERDUE_OF, customer_ids=list(customer_ids), now=now))
