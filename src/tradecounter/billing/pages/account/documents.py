"""The customer's invoices and credit notes: lists, single documents, and their files."""

import asyncio
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.billing.credit_overview import owed_of
from tradecounter.billing.invoices import shown_invoices
from tradecounter.billing.print_invoice import zipped_documents
from tradecounter.billing.queries.credit_notes import (
    CreditNoteFilter,
    CreditNoteRecord,
    fetch_credit_note,
    list_credit_notes,
)
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    InvoiceRecord,
    fetch_own_invoice,
    list_invoices,
)
from tradecounter.billing.queries.invoices import PRINTED_CREDIT_NOTES, PRINTED_INVOICES
from tradecounter.billing.queries.ledger import open_invoices, unallocated_of
from tradecounter.billing.reseller_wire import present_credit_note
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import ACCOUNTS, INVOICE_FILES, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.edge.rest.negotiation import PDF, ZIP
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import not_found
from tradecounter.letterhead.seller import bank_details
from tradecounter.parts.account import AccountParts
from tradecounter.payments.queries.payments import PaymentFilter, list_payments
from tradecounter.payments.remittances import told_invoices

_MOST_FILES = 100
_AMOUNTS = ("net", "vat", "gross")
_INVOICE_COLUMNS = (
    Column("Invoice"),
    Column("Your reference"),
    Column("Issued"),
    Column("Due"),
    Column("State"),
    Column("Total", numeric=True),
    Column("Left to pay", numeric=True),
)
_INVOICE_CELLS: Cells = {
    "number": "number",
    "order_reference": "order_reference",
    "issued_on": lambda row: uk_date(row.issued_at),
    "due_on": lambda row: uk_date(row.due_at),
    **{name: name for name in (*_AMOUNTS, "paid", "credited", "due", "customer_reference")},
}


class InvoiceTable(TableParameters, frozen=True, kw_only=True):
    """The filters of invoices; both days are included."""

    show: Literal["unpaid", "overdue"] | None = None
    reference: str | None = None
    issued_from: str | None = None
    issued_to: str | None = None


class OwnInvoicePages(Struct, frozen=True):
    """The list of invoices, one of them, and their files."""

    desk: PageDesk
    parts: AccountParts

    @table_page(
        "/account/invoice",
        "Invoices",
        columns=_INVOICE_COLUMNS,
        order=TableOrder({"number": int}, "-number", lambda row, _: (0, row.number)),
        template="billing/invoices.html",
        file="invoices",
        cells=_INVOICE_CELLS,
        shown=lambda self, call, _: self._shown(call),
        user_roles=ACCOUNTS,
    )
    async def list_invoices(
        self, tx: Transaction, call: Call, wanted: InvoiceTable, at: RowsToRead, now: datetime
    ) -> list[InvoiceRecord]:
        chosen = replace(
            _invoice_filter(call.customer_id, wanted, now), before=None if at["after"] is None else at["after"][1]
        )
        return await list_invoices(tx, chosen, wanted.most)

    async def _shown(self, call: Call) -> dict[str, Any]:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            announced = await told_invoices(tx, call.customer_id, now)
            owed = owed_of(await open_invoices(tx, call.customer_id), announced, now)
            in_advance = await unallocated_of(tx, call.customer_id)
        return {"now": now, "owed": owed, "in_advance": in_advance, "bank": bank_details(self.parts.settings)}

    @page("/account/invoice/zip", "Invoices as a ZIP file", user_roles=ACCOUNTS, query=InvoiceTable)
    async def send_files(self, call: Call) -> Response:
        wanted = call.query(InvoiceTable)
        async with self.desk.reading() as tx:
            invoices = await list_invoices(
                tx, _invoice_filter(call.customer_id, wanted, self.desk.clock.now()), _MOST_FILES
            )
            printed = await PRINTED_INVOICES.several(tx, [invoice.number for invoice in invoices])
        if not printed:
            raise not_found("invoice")
        file = await asyncio.to_thread(zipped_documents, printed, "invoice")
        return file_response(file, "invoices.zip", ZIP)

    @page("/account/invoice/{number}", "One invoice", user_roles=INVOICE_FILES)
    async def show_one(self, call: Call) -> Response:
        number, now = call.path_id("number", "invoice"), self.desk.clock.now()
        async with self.desk.reading() as tx:
            record = await fetch_own_invoice(tx, call.customer_id, number)
            [invoice] = await shown_invoices(tx, [record], now)
            payments = await list_payments(tx, PaymentFilter(invoice=number), _MOST_FILES)
            notes = await list_credit_notes(tx, CreditNoteFilter(invoice=number), _MOST_FILES)
        return self.desk.show(
            call,
            "billing/invoice.html",
            record=record,
            invoice=invoice,
            state=record.state(now),
            payments=[(payment, payment.share_of(number)) for payment in payments],
            credit_notes=notes,
            bank=bank_details(self.parts.settings),
        )

    @page("/account/invoice/{number}/pdf", "An invoice as a PDF file", user_roles=INVOICE_FILES)
    async def show_invoice(self, call: Call) -> Response:
        number = call.path_id("number", "invoice")
        async with self.desk.reading() as tx:
            printed = await PRINTED_INVOICES.one(tx, number, call.customer_id)
        return file_response(printed.pdf, f"invoice-{number}.pdf", PDF)


def _invoice_filter(customer_id: int, wanted: InvoiceTable, now: datetime) -> InvoiceFilter:
    """Return the filter of a customer's invoices. Raises DomainError (invalid)."""
    return InvoiceFilter(
        customer_id=customer_id,
        unpaid=wanted.show == "unpaid",
        overdue_at=now if wanted.show == "overdue" else None,
        reference=text("reference", wanted.reference),
        issued_from=start_of("issued_from", wanted.issued_from),
        issued_to=end_of("issued_to", wanted.issued_to),
    )


_CREDIT_NOTES = "/account/invoice/credit-note"
_CREDIT_NOTE_COLUMNS = (
    Column("Credit note"),
    Column("Your reference"),
    Column("Invoice"),
    Column("Issued"),
    Column("Reason"),
    Column("Total", numeric=True),
)
_CREDIT_NOTE_CELLS: Cells = {
    **{name: name for name in ("number", "invoice", "order_reference")},
    "issued_on": lambda row: uk_date(row.issued_at),
    **{name: name for name in ("reason", "net", "vat", "gross", "customer_reference")},
}


class CreditNoteTable(TableParameters, frozen=True, kw_only=True):
    """The filters of credit notes; both days are included."""

    reference: str | None = None
    issued_from: str | None = None
    issued_to: str | None = None


class OwnCreditNotePages(Struct, frozen=True):
    """The credit notes of the customer."""

    desk: PageDesk
    parts: AccountParts

    @table_page(
        _CREDIT_NOTES,
        "Credit notes",
        columns=_CREDIT_NOTE_COLUMNS,
        order=TableOrder({"number": int}, "-number", lambda row, _: (0, row.number)),
        template="billing/credit_notes.html",
        file="credit-notes",
        cells=_CREDIT_NOTE_CELLS,
        user_roles=ACCOUNTS,
    )
    async def list_credit_notes(
        self, tx: Transaction, call: Call, wanted: CreditNoteTable, at: RowsToRead
    ) -> list[CreditNoteRecord]:
        before = None if at["after"] is None else at["after"][1]
        return await list_credit_notes(tx, _credit_note_filter(call.customer_id, wanted, before), wanted.most)

    @page(f"{_CREDIT_NOTES}/zip", "Credit notes as a ZIP file", user_roles=ACCOUNTS, query=CreditNoteTable)
    async def send_files(self, call: Call) -> Response:
        wanted = _credit_note_filter(call.customer_id, call.query(CreditNoteTable))
        async with self.desk.reading() as tx:
            credit_notes = await list_credit_notes(tx, wanted, _MOST_FILES)
            printed = await PRINTED_CREDIT_NOTES.several(tx, [note.number for note in credit_notes])
        if not printed:
            raise not_found("credit note")
        file = await asyncio.to_thread(zipped_documents, printed, "credit-note")
        return file_response(file, "credit-notes.zip", ZIP)

    @page(f"{_CREDIT_NOTES}/{{number}}", "One credit note", user_roles=INVOICE_FILES)
    async def show_one(self, call: Call) -> Response:
        number = call.path_id("number", "credit note")
        async with self.desk.reading() as tx:
            record = await fetch_credit_note(tx, number, call.customer_id)
        return self.desk.show(call, "billing/credit_note.html", record=record, note=present_credit_note(record))

    @page(f"{_CREDIT_NOTES}/{{number}}/pdf", "A credit note as a PDF file", user_roles=INVOICE_FILES)
    async def show_pdf(self, call: Call) -> Response:
        number = call.path_id("number", "credit note")
        async with self.desk.reading() as tx:
            printed = await PRINTED_CREDIT_NOTES.one(tx, number, call.customer_id)
        return file_response(printed.pdf, f"credit-note-{number}.pdf", PDF)


def _credit_note_filter(customer_id: int, wanted: CreditNoteTable, before: int | None = None) -> CreditNoteFilter:
    """Return the filter of a customer's credit notes. Raises DomainError (invalid)."""
    return CreditNoteFilter(
        customer_id=customer_id,
        reference=text("reference", wanted.reference),
        issued_from=start_of("issued_from", wanted.issued_from),
        issued_to=end_of("issued_to", wanted.issued_to),
        before=before,
    )
