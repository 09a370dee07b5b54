"""Invoices, which never change; and the debts of orders."""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from psycopg.sql import SQL, Identifier

from tradecounter.billing.invoice_document import InvoiceDocument
from tradecounter.billing.rules import BilledUnits
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import RawRows, Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found

_SERIAL_NUMBERS = Statement(
    "select n.line_id, array_agg(n.serial_number order by n.id) from serial_number n"
    " join shipment s on s.id = n.shipment_id where s.order_id = :order_id and s.invoice is null group by n.line_id"
)


async def serial_numbers_of(tx: Transaction, order_id: int) -> dict[int, list[str]]:
    """Return the serial numbers of an order's units that are dispatched and not invoiced, by line id."""
    return dict(await tx.fetch_all(_SERIAL_NUMBERS, order_id=order_id))


_LAST_DISPATCH = Statement("select max(dispatched_at) from shipment where order_id = :order_id and invoice is null")


async def last_dispatch(tx: Transaction, order_id: int) -> datetime | None:
    """Return when the latest shipment of an order without an invoice was dispatched; None without such a shipment."""
    last: datetime | None = await tx.fetch_value(_LAST_DISPATCH, order_id=order_id)
    return last


_INVOICED = Statement(
    "select b.order_id, l.line_id, sum(l.quantity), sum(l.net), sum(l.vat) from invoice_line l"
    " join invoice_balance b using (invoice) where b.order_id = any(:order_ids) group by b.order_id, l.line_id"
)


async def invoiced_of(tx: Transaction, order_ids: Collection[int]) -> dict[int, dict[int | None, BilledUnits]]:
    """Return what the invoices of each order contain so far, by line id. The key None is for the shipping."""
    invoiced: dict[int, dict[int | None, BilledUnits]] = {order_id: {} for order_id in order_ids}
    for order_id, line_id, units, net, vat in await tx.fetch_all(_INVOICED, order_ids=list(order_ids)):
        invoiced[order_id][line_id] = BilledUnits(int(units), net, vat)
    return invoiced


_INVOICE_NUMBERS = Statement(
    "select order_id, array_agg(number order by number) from invoice where order_id = any(:order_ids) group by order_id"
)


async def invoice_numbers(tx: Transaction, order_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the numbers of the invoices of orders, by internal id, in their sequence."""
    return dict(await tx.fetch_all(_INVOICE_NUMBERS, order_ids=list(order_ids)))


class PrintedDocument(Struct, frozen=True):
    """An invoice or a credit note as a PDF file."""

    number: int
    pdf: bytes


class PrintedDocuments:
    """The PDF files of a table; `name` is what errors call a document."""

    def __init__(self, table: str, name: str) -> None:
        self._name = name
        files = SQL("select number, pdf from {}").format(Identifier(table))
        own = SQL("(:customer_id::bigint is null or customer_id = :customer_id)")
        self._one = Statement(SQL("{} where number = :number and {}").format(files, own), PrintedDocument)
        self._several = Statement(
            SQL("{} where number = any(:numbers::bigint[]) order by number").format(files), PrintedDocument
        )

    async def one(self, tx: Transaction, number: int, customer_id: int | None = None) -> PrintedDocument:
        """Return a document of any customer, or of one. Raises DomainError (not found)."""
        row = await tx.find_row(self._one, number=number, customer_id=customer_id)
        return or_not_found(row, self._name, number)

    async def several(self, tx: Transaction, numbers: Sequence[int]) -> list[PrintedDocument]:
        """Return documents by number."""
        return await tx.fetch_all(self._several, numbers=list(numbers))


PRINTED_INVOICES = PrintedDocuments("invoice", "invoice")


_PRINTED_DOCUMENTS = Statement(
    """
    select number, pdf from (
        select i.number, i.pdf, i.issued_at, 1 as rank from invoice i where i.order_id = :order_id
        union all
        select n.number, n.pdf, n.issued_at, 2 from credit_note n join invoice i on i.number = n.invoice
            where i.order_id = :order_id
    ) as issued order by issued_at, rank, number
    """,
    PrintedDocument,
)


async def printed_documents(tx: Transaction, order_id: int) -> list[PrintedDocument]:
    """Return an order's invoices and credit notes as PDF files, oldest first, by the order's internal id."""
    return await tx.fetch_all(_PRINTED_DOCUMENTS, order_id=order_id)


# A debt is due with the oldest unpaid invoice; a paid order was due with its last invoice.
_DEBT = SQL(
    "select o.order_reference, o.customer_reference, o.gross - o.credited as gross, o.paid, o.term_days,"
    " o.confirmed_at, case when o.paid + o.credited < o.gross then b.open_due_at else b.last_due_at end as due_at"
    " from orders o left join lateral (select min(due_at) filter (where due > 0) as open_due_at,"
    " max(due_at) as last_due_at from invoice_balance where order_id = o.id) as b on true"
)


class Debt(Struct, frozen=True, kw_only=True):
    """The gross of a confirmed order, less credit notes, and the paid amount; without an invoice, `due_at` is None."""

    order_reference: str
    customer_reference: str
    gross: Decimal
    paid: Decimal
    term_days: int
    confirmed_at: datetime
    due_at: datetime | None

    @property
    def due(self) -> Decimal:
        """What is left to pay."""
        return self.gross - self.paid


_DEBTS_OF = Statement(
    SQL(
        "{} where o.customer_id = :customer_id and o.state = 'confirmed' and o.paid + o.credited < o.gross"
        " order by o.confirmed_at, o.number"
    ).format(_DEBT),
    Debt,
)


async def debts_of(tx: Transaction, customer_id: int) -> RawRows[Debt]:
    """Return the debts of a customer's confirmed orders that are not fully paid, oldest first."""
    return await tx.fetch_raw(_DEBTS_OF, customer_id=customer_id)


_FIND_DEBT = Statement(SQL("{} where o.id = :order_id").format(_DEBT), Debt)


async def fetch_debt(tx: Transaction, order_id: int) -> Debt:
    """Return a confirmed order's debt, paid or not, by the order's internal id. Raises LookupError."""
    return await tx.fetch_row(_FIND_DEBT, order_id=order_id)


_NEXT_INVOICE_NUMBER = Statement("update invoice_number set last = last + 1 returning last")


async def next_invoice_number(tx: Transaction) -> int:
    """Return the next invoice number, locked until the transaction ends.

    Numbers have no gaps: a rollback returns the number.
    """
    number: int = await tx.fetch_value(_NEXT_INVOICE_NUMBER)
    return number


_INSERT_INVOICE = Statement("""
    insert into invoice (number, order_id, customer_id, issued_at, supplied_at, due_at, net, vat, gross, document, pdf)
    values (:number, :order_id, :customer_id, :issued_at, :supplied_at, :due_at, :net, :vat, :gross, :document, :pdf)
""")
_INSERT_LINES = Statement("""
    insert into invoice_line (invoice, position, line_id, quantity, net, vat)
    select :invoice, position, line_id, quantity, net, vat
    from json_to_recordset(:lines::json)
         as l (position integer, line_id bigint, quantity integer, net numeric, vat numeric)
""")
_INSERT_BALANCE = Statement("""
    insert into invoice_balance (invoice, order_id, customer_id, due_at, gross)
    values (:invoice, :order_id, :customer_id, :due_at, :gross)
""")
_MARK_SHIPMENTS = Statement("update shipment set invoice = :invoice where order_id = :order_id and invoice is null")


def insert_invoice(
    tx: Transaction,
    order_id: int,
    document: InvoiceDocument,
    line_ids: Sequence[int | None],
    pdf: bytes,
    *,
    issued_at: datetime,
    supplied_at: datetime,
    due_at: datetime,
) -> None:
    """Store an invoice as data and as a PDF file; `line_ids` are those of the order, None for the shipping."""
    number, customer_id = document.number, document.customer_id
    tx.queue(
        _INSERT_INVOICE,
        number=number,
        order_id=order_id,
        customer_id=customer_id,
        issued_at=issued_at,
        supplied_at=supplied_at,
        due_at=due_at,
        net=document.net,
        vat=document.vat,
        gross=document.gross,
        document=json_of(document),
        pdf=pdf,
    )
    lines = [
        {"position": position, "line_id": line_id, "quantity": line.quantity, "net": line.net, "vat": line.vat}
        for position, (line_id, line) in enumerate(zip(line_ids, document.lines, strict=True), start=1)
    ]
    tx.queue(_INSERT_LINES, invoice=number, lines=json_of(lines))
    tx.queue(
        _INSERT_BALANCE,
        invoice=number,
        order_id=order_id,
        customer_id=customer_id,
        due_at=due_at,
        gross=document.gross,
    )
    tx.queue(_MARK_SHIPMENTS, invoice=number, order_id=order_id)
