"""The customer's pages of credit notes."""

import asyncio
from typing import Annotated

from msgspec import Struct
from starlette.responses import Response

from tradecounter.billing.print_invoice import zipped_documents
from tradecounter.credit_notes.queries import (
    PRINTED_CREDIT_NOTES,
    CreditNoteFilter,
    CreditNoteRecord,
    fetch_credit_note,
    list_credit_notes,
)
from tradecounter.credit_notes.reseller_wire import present_credit_note
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import ACCOUNTS, INVOICE_FILES, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.edge.rest.negotiation import PDF, ZIP
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import not_found
from tradecounter.parts.account import AccountParts

_MOST_FILES = 100
_CREDIT_NOTES = "/account/invoice/credit-note"
_COLUMNS = (
    Column("Credit note"),
    Column("Your reference"),
    Column("Invoice"),
    Column("Issued"),
    Column("Reason"),
    Column("Total", numeric=True),
)
_CELLS: Cells = {
    **{name: name for name in ("number", "invoice", "order_reference")},
    "issued_on": lambda row: uk_date(row.issued_at),
    **{name: name for name in ("reason", "net", "vat", "gross", "customer_reference")},
}


class CreditNoteTable(TableParameters, frozen=True, kw_only=True):
    """The filters of credit notes; both days are included."""

    reference: Annotated[str | None, Filter("Order or reference", wide=True)] = None
    issued_from: Annotated[str | None, Filter("Issued from", "date", wide=True)] = None
    issued_to: Annotated[str | None, Filter("Issued until", "date", wide=True)] = None


class OwnCreditNotePages(Struct, frozen=True):
    """The credit notes of the customer."""

    desk: PageDesk
    parts: AccountParts

    @table_page(
        _CREDIT_NOTES,
        "Credit notes",
        columns=_COLUMNS,
        order=TableOrder({"number": int}, "-number", lambda row, _: (0, row.number)),
        template="credit_notes/list.html",
        file="credit-notes",
        cells=_CELLS,
        user_roles=ACCOUNTS,
    )
    async def list_credit_notes(
        self, tx: Transaction, call: Call, wanted: CreditNoteTable, at: RowsToRead
    ) -> list[CreditNoteRecord]:
        before = None if at["after"] is None else at["after"][1]
        return await list_credit_notes(tx, _filter(call.customer_id, wanted, before), wanted.most)

    @page(f"{_CREDIT_NOTES}/zip", "Credit notes as a ZIP file", user_roles=ACCOUNTS, query=CreditNoteTable)
    async def send_files(self, call: Call) -> Response:
        wanted = _filter(call.customer_id, call.query(CreditNoteTable))
        async with self.desk.reading() as tx:
            found = await list_credit_notes(tx, wanted, _MOST_FILES)
            printed = await PRINTED_CREDIT_NOTES.several(tx, [note.number for note in found])
        if not printed:
            raise not_found("credit note")
        file = await asyncio.to_thread(zipped_documents, printed, "credit-note")
        return file_response(file, "credit-notes.zip", ZIP)

    @page(f"{_CREDIT_NOTES}/{{number}}", "One credit note", user_roles=INVOICE_FILES)
    async def show_one(self, call: Call) -> Response:
        number = call.path_id("number", "credit note")
        async with self.desk.reading() as tx:
            record = await fetch_credit_note(tx, number, call.customer_id)
        return self.desk.show(call, "credit_notes/one.html", record=record, note=present_credit_note(record))

    @page(f"{_CREDIT_NOTES}/{{number}}/pdf", "A credit note as a PDF file", user_roles=INVOICE_FILES)
    async def show_pdf(self, call: Call) -> Response:
        number = call.path_id("number", "credit note")
        async with self.desk.reading() as tx:
            found = await PRINTED_CREDIT_NOTES.one(tx, number, call.customer_id)
        return file_response(found.pdf, f"credit-note-{number}.pdf", PDF)


def _filter(customer_id: int, wanted: CreditNoteTable, before: int | None = None) -> CreditNoteFilter:
    """Return the filter of a customer's credit notes. Raises DomainError (invalid)."""
    return CreditNoteFilter(
        customer_id=customer_id,
        reference=text("reference", wanted.reference),
        issued_from=start_of("issued_from", wanted.issued_from),
        issued_to=end_of("issued_to", wanted.issued_to),
        before=before,
    )
