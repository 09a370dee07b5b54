"""`/account/invoice`: invoices and credit notes, with their PDF files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
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
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Column, Sort, TableParameters
from tradecounter.edge.pages.listing import At, known, table_page
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import ACCOUNTS, INVOICE_FILES
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import file_response
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


class InvoiceTable(TableParameters, frozen=True, kw_only=True):
    """The filter of the table of invoices."""

    show: Literal["unpaid", "overdue"] | None = None


def _note_row(row: CreditNoteRecord) -> tuple[object, ...]:
    issued = uk_date(row.issued_at)
    return (row.number, row.invoice, row.order_reference, issued, row.reason, row.net, row.vat, row.gross)


def _invoice_row(row: InvoiceRecord) -> tuple[object, ...]:
    days = (uk_date(row.issued_at), uk_date(row.due_at))
    return (row.number, row.order_reference, *days, row.net, row.vat, row.gross, row.paid, row.credited, row.due)


@dataclass(frozen=True, slots=True)
class InvoicePages:
    """The lists of invoices and credit notes, and their files."""

    desk: PageDesk
    parts: AccountParts

    @table_page(
        "/account/invoice",
        "Invoices",
        columns=_INVOICE_COLUMNS,
        sorts={"number": int},
        default="-number",
        place=lambda row, _: (0, row.number),
        template="billing/invoices.html",
        file="invoices",
        headings=_INVOICE_HEADINGS,
        cells=_invoice_row,
        shown=lambda self, _, found: known(state=_states(found.rows, self.desk.clock.now())),
        user_roles=ACCOUNTS,
    )
    async def list_invoices(
        self, tx: Transaction, call: Call, wanted: InvoiceTable, at: At, now: datetime
    ) -> list[InvoiceRecord]:
        chosen = InvoiceFilter(
            customer_id=call.customer_id,
            unpaid=wanted.show == "unpaid",
            overdue_at=now if wanted.show == "overdue" else None,
            before=None if at["after"] is None else at["after"][1],
        )
        return await list_invoices(tx, chosen, wanted.most)

    @table_page(
        "/account/invoice/credit-note",
        "Credit notes",
        columns=_NOTE_COLUMNS,
        sorts={"number": int},
        default="-number",
        place=lambda row, _: (0, row.number),
        template="billing/credit_notes.html",
        file="credit-notes",
        headings=_NOTE_HEADINGS,
        cells=_note_row,
        user_roles=ACCOUNTS,
    )
    async def list_credit_notes(
        self, tx: Transaction, call: Call, wanted: TableParameters, at: At
    ) -> list[CreditNoteRecord]:
        before = None if at["after"] is None else at["after"][1]
        return await list_credit_notes(tx, CreditNoteFilter(customer_id=call.customer_id, before=before), wanted.most)

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


def _state(invoice: InvoiceRecord, *, is_late: bool) -> str:
    """Return what an invoice waits for, in words."""
    if invoice.due <= NOTHING:
        return "Paid" if invoice.paid > NOTHING or invoice.gross == NOTHING else "Credited"
    if is_late:
        return "Overdue"
    return "Part paid" if invoice.paid > NOTHING or invoice.credited > NOTHING else "Open"


def _states(rows: Sequence[InvoiceRecord], now: datetime) -> dict[int, str]:
    """Return what each invoice waits for, by its number."""
    return {row.number: _state(row, is_late=row.due_at < now) for row in rows}
