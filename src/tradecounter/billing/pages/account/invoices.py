"""`/account/invoice`: invoices and credit notes, with their PDF files."""

from dataclasses import dataclass
from typing import Literal

from starlette.responses import Response

from tradecounter.billing.queries.credit_notes import (
    CreditNoteFilter,
    CreditNoteRecord,
    list_credit_notes,
    printed_credit_note,
)
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    InvoiceRecord,
    list_invoices,
    printed_invoice,
)
from tradecounter.edge.page_kit.forms import Filled, Submitted, query_values
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import ACCOUNTS, INVOICE_FILES
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS, file_response
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import NOTHING
from tradecounter.parts.account import AccountParts

_LATEST_FIRST = Sort("number", descending=True)
_INVOICE_COLUMNS = (
    Column("Invoice"),
    Column("Order"),
    Column("Issued"),
    Column("Due"),
    Column("State"),
    Column("Total", numeric=True),
    Column("Left to pay", numeric=True),
)
_NOTE_COLUMNS = (
    Column("Credit note"),
    Column("Invoice"),
    Column("Order"),
    Column("Issued"),
    Column("Reason"),
    Column("Total", numeric=True),
)


class InvoiceTable(TableParameters, frozen=True, kw_only=True):
    """The filter of the table of invoices."""

    show: Literal["unpaid", "overdue"] | None = None


@dataclass(frozen=True, slots=True)
class InvoicePages:
    """The lists of invoices and credit notes, and their files."""

    desk: PageDesk
    parts: AccountParts

    @page("/account/invoice", "Invoices", user_roles=ACCOUNTS, query=InvoiceTable)
    async def list_invoices(self, call: Call) -> Response:
        filled, wanted, found = Filled(query_values(call.raw_query)), InvoiceTable(), []
        now = self.desk.clock.now()
        try:
            wanted = call.query(InvoiceTable)
            chosen = InvoiceFilter(
                customer_id=call.customer_id,
                unpaid=wanted.show == "unpaid",
                overdue_at=now if wanted.show == "overdue" else None,
                before=_before(wanted.after),
            )
            async with self.desk.reading() as tx:
                found = await list_invoices(tx, chosen, wanted.most)
        except DomainError as error:
            if error.kind is not Kind.INVALID:
                raise
            filled = Filled.of(Submitted(filled.values), error, STATUS[error.kind])
        if wanted.is_file and not filled.message and not filled.errors:
            return csv_file("invoices", _INVOICE_HEADINGS, map(_invoice_row, found))
        address = self.desk.view(call).at("/account/invoice")
        table = Table.of(call, address, _INVOICE_COLUMNS, found, _LATEST_FIRST, lambda row: cursor_text(0, row.number))
        state = {invoice.number: _state(invoice, is_late=invoice.due_at < now) for invoice in table.rows}
        return self.desk.show(call, "billing/invoices.html", form=filled, table=table, state=state)

    @page("/account/invoice/credit-note", "Credit notes", user_roles=ACCOUNTS, query=TableParameters)
    async def list_credit_notes(self, call: Call) -> Response:
        wanted = call.query(TableParameters)
        chosen = CreditNoteFilter(customer_id=call.customer_id, before=_before(wanted.after))
        async with self.desk.reading() as tx:
            found = await list_credit_notes(tx, chosen, wanted.most)
        if wanted.is_file:
            return csv_file("credit-notes", _NOTE_HEADINGS, map(_note_row, found))
        address = self.desk.view(call).at("/account/invoice/credit-note")
        table = Table.of(call, address, _NOTE_COLUMNS, found, _LATEST_FIRST, lambda row: cursor_text(0, row.number))
        return self.desk.show(call, "billing/credit_notes.html", table=table)

    @page("/account/invoice/{number}/pdf", "An invoice as a PDF file", user_roles=INVOICE_FILES)
    async def show_invoice(self, call: Call) -> Response:
        number = call.path_id("number", "invoice")
        async with self.desk.reading() as tx:
            found = await printed_invoice(tx, number, call.customer_id)
        return file_response(found.pdf, f"invoice-{number}.pdf", _PDF)

    @page("/account/invoice/credit-note/{number}/pdf", "A credit note as a PDF file", user_roles=INVOICE_FILES)
    async def show_credit_note(self, call: Call) -> Response:
        number = call.path_id("number", "credit note")
        async with self.desk.reading() as tx:
            found = await printed_credit_note(tx, number, call.customer_id)
        return file_response(found.pdf, f"credit-note-{number}.pdf", _PDF)


_PDF = "application/pdf"
_INVOICE_HEADINGS = (
    "number",
    "order_reference",
    "issued_on",
    "due_on",
    "net",
    "vat",
    "gross",
    "paid",
    "credited",
    "due",
)
_NOTE_HEADINGS = ("number", "invoice", "order_reference", "issued_on", "reason", "net", "vat", "gross")


def _before(cursor: str | None) -> int | None:
    """Return the number of the last row that was shown."""
    after = read_cursor(cursor, int)
    return None if after is None else after[1]


def _state(invoice: InvoiceRecord, *, is_late: bool) -> str:
    """Return what an invoice waits for, in words."""
    if invoice.due <= NOTHING:
        return "Paid" if invoice.paid > NOTHING or invoice.gross == NOTHING else "Credited"
    if is_late:
        return "Overdue"
    return "Part paid" if invoice.paid > NOTHING or invoice.credited > NOTHING else "Open"


def _invoice_row(row: InvoiceRecord) -> tuple[object, ...]:
    days = (uk_date(row.issued_at), uk_date(row.due_at))
    return (row.number, row.order_reference, *days, row.net, row.vat, row.gross, row.paid, row.credited, row.due)


def _note_row(row: CreditNoteRecord) -> tuple[object, ...]:
    issued = uk_date(row.issued_at)
    return (row.number, row.invoice, row.order_reference, issued, row.reason, row.net, row.vat, row.gross)
