"""Credit notes, which never change: their lines, their files, and the table of all."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

import msgspec
from msgspec import Struct
from psycopg.sql import SQL, Composed

from tradecounter.billing.invoice_document import CreditNoteDocument
from tradecounter.billing.queries.invoice_records import DocumentFilter
from tradecounter.billing.queries.invoices import PrintedDocuments
from tradecounter.billing.rules import BilledUnits
from tradecounter.credit_notes.rules import CreditShare, InvoicedLine
from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.pipeline import json_of
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.orders.queries.orders import NAMED_ORDERS, REFERRED_TO

_INVOICED_LINES = Statement(
    "select position, line_id, quantity, net, vat from invoice_line where invoice = :invoice order by position",
    InvoicedLine,
)


async def invoiced_lines(tx: Transaction, invoice: int) -> list[InvoicedLine]:
    """Return the lines of an invoice."""
    return await tx.fetch_all(_INVOICED_LINES, invoice=invoice)


_CREDITED = Statement("""
    select l.invoice_position, sum(l.quantity), sum(l.net), sum(l.vat)
    from credit_note_line l join credit_note c on c.number = l.credit_note
    where c.invoice = :invoice group by l.invoice_position
""")


async def credited_of(tx: Transaction, invoice: int) -> dict[int | None, BilledUnits]:
    """Return what is credited of an invoice, by position. The key None is for amounts without a line."""
    rows = await tx.fetch_all(_CREDITED, invoice=invoice)
    return {position: BilledUnits(int(units), net, vat) for position, units, net, vat in rows}


_NUMBERS = Statement(
    "select b.order_id, array_agg(c.number order by c.number) from credit_note c join invoice_balance b using (invoice)"
    " where b.order_id = any(:order_ids) group by b.order_id"
)


async def credit_note_numbers(tx: Transaction, order_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the numbers of the credit notes of orders, by internal id."""
    return dict(await tx.fetch_all(_NUMBERS, order_ids=list(order_ids)))


_NEXT_NUMBER = Statement("update credit_note_number set last = last + 1 returning last")


async def next_credit_note_number(tx: Transaction) -> int:
    """Return the next number, locked until the transaction ends. Numbers have no gaps: a rollback returns it."""
    number: int = await tx.fetch_value(_NEXT_NUMBER)
    return number


_INSERT = Statement("""
    insert into credit_note (number, invoice, customer_id, issued_at, reason, net, vat, gross, document, pdf)
    values (:number, :invoice, :customer_id, :issued_at, :reason, :net, :vat, :gross, :document, :pdf)
""")
_INSERT_LINES = Statement("""
    insert into credit_note_line (credit_note, position, invoice_position, quantity, net, vat)
    select :number, position, invoice_position, quantity, net, vat
    from json_to_recordset(:lines::json)
         as l (position integer, invoice_position integer, quantity integer, net numeric, vat numeric)
""")


def insert_credit_note(
    tx: Transaction, document: CreditNoteDocument, shares: Sequence[CreditShare], pdf: bytes, issued_at: datetime
) -> None:
    """Store a credit note as data and as a PDF file."""
    tx.queue(
        _INSERT,
        number=document.number,
        invoice=document.invoice,
        customer_id=document.customer_id,
        issued_at=issued_at,
        reason=document.reason,
        net=document.net,
        vat=document.vat,
        gross=document.gross,
        document=json_of(document),
        pdf=pdf,
    )
    lines = [
        {
            "position": position,
            "invoice_position": None if share.line is None else share.line.position,
            "quantity": share.units,
            "net": share.net,
            "vat": share.vat,
        }
        for position, share in enumerate(shares, start=1)
    ]
    tx.queue(_INSERT_LINES, number=document.number, lines=json_of(lines))


class CreditNoteRecord(Struct, frozen=True, kw_only=True):
    """A credit note; `line_ids` are the order's lines in the sequence of the document, None for other lines."""

    number: int
    invoice: int
    customer_id: int
    order_reference: str
    customer_reference: str
    issued_at: datetime
    reason: str
    net: Decimal
    vat: Decimal
    gross: Decimal
    document: dict[str, object]
    line_ids: list[int | None]


class CreditNoteFilter(DocumentFilter, frozen=True, kw_only=True):
    """A filter of credit notes; `invoice` is the number of one that they correct."""

    invoice: int | None = None


_SELECTED = SQL("""
    select n.number, n.invoice, n.customer_id, o.order_reference, o.customer_reference, n.issued_at, n.reason, n.net,
           n.vat, n.gross, n.document, of_lines.line_ids
    from credit_note n join invoice_balance b using (invoice) join orders o on o.id = b.order_id
    cross join lateral (
        select array_agg(i.line_id order by l.position) as line_ids
        from credit_note_line l left join invoice_line i on i.invoice = n.invoice and i.position = l.invoice_position
        where l.credit_note = n.number
    ) as of_lines
""")
_OF_ORDERS = SQL("n.invoice in (select invoice from invoice_balance where order_id in {})")
_CONDITIONS: Mapping[str, SQL | Composed] = {
    "customer_id": SQL("n.customer_id = :customer_id"),
    "invoice": SQL("n.invoice = :invoice"),
    "order_id": _OF_ORDERS.format(SQL("(:order_id)")),
    "reference": _OF_ORDERS.format(REFERRED_TO),
    "order_reference": _OF_ORDERS.format(NAMED_ORDERS),
    "issued_from": SQL("n.issued_at >= :issued_from"),
    "issued_to": SQL("n.issued_at < :issued_to"),
    "before": SQL("n.number < :before"),
    "changed_since": SQL("n.changed_at >= :changed_since"),
}


async def list_credit_notes(
    tx: Transaction, wanted: CreditNoteFilter, most: int, start: int = 0
) -> list[CreditNoteRecord]:
    """Return the latest credit notes that match a filter, from a position on."""
    chosen, values = where(wanted, _CONDITIONS)
    sql = SQL("{} where {} order by n.number desc offset :start limit :most").format(_SELECTED, chosen)
    return await tx.fetch_all(Statement(sql, CreditNoteRecord), **values, most=most, start=start)


async def count_credit_notes(tx: Transaction, wanted: CreditNoteFilter) -> int:
    """Return how many credit notes match a filter."""
    chosen, values = where(wanted, _CONDITIONS)
    sql = SQL("select count(*) from credit_note n where {}").format(chosen)
    return int(await tx.fetch_value(Statement(sql), **values))


_THE_CREDIT_NOTE = Statement(SQL("{} where n.number = :number").format(_SELECTED), CreditNoteRecord)


async def find_credit_note(tx: Transaction, number: int) -> CreditNoteRecord | None:
    """Return a credit note of any customer, or None."""
    return await tx.find_row(_THE_CREDIT_NOTE, number=number)


async def fetch_credit_note(tx: Transaction, number: int, customer_id: int | None = None) -> CreditNoteRecord:
    """Return a credit note, of any customer or of one. Raises DomainError (not found)."""
    credit_note = await find_credit_note(tx, number)
    if credit_note is None or customer_id not in {None, credit_note.customer_id}:
        raise not_found("credit note", number)
    return credit_note


def document_of(record: CreditNoteRecord) -> CreditNoteDocument:
    """Return a credit note as data."""
    return msgspec.convert(record.document, CreditNoteDocument)


PRINTED_CREDIT_NOTES = PrintedDocuments("credit_note", "credit note")


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


CREDIT_NOTES: SortedTable[CreditNoteRow] = SortedTable(
    select=SQL("""
        select n.number, n.invoice, n.customer_id, {name} as customer, n.issued_at, n.reason, n.net, n.vat, n.gross
        from credit_note n join customer c on c.id = n.customer_id
    """).format(name=CUSTOMER_NAME),
    row=CreditNoteRow,
    conditions=_CONDITIONS,
    columns={
        "number": SortColumn(SQL("n.number"), SQL("bigint"), int, lambda row: row.number),
        "gross": SortColumn(SQL("n.gross"), SQL("numeric"), Decimal, lambda row: row.gross),
    },
    key=SQL("n.number"),
    key_of=lambda row: row.number,
)
