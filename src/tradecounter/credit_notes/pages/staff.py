"""`/credit-note`: the credit notes of all customers, one credit note, and the form that issues one."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.billing.invoices import shown_invoice
from tradecounter.billing.queries.invoice_records import fetch_invoice
from tradecounter.credit_notes.credit_return import creditable_of_return, reason_of
from tradecounter.credit_notes.issue_credit_note import creditable_of, issue_credit_note
from tradecounter.credit_notes.queries import (
    CREDIT_NOTES,
    PRINTED_CREDIT_NOTES,
    CreditNoteFilter,
    CreditNoteRow,
    fetch_credit_note,
)
from tradecounter.credit_notes.reseller_wire import CreditNote, present_credit_note
from tradecounter.credit_notes.rules import CreditLine
from tradecounter.customers.named_customer import named_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled, in_rows
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.edge.rest.negotiation import PDF
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import uk_date
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import invalid, named_by
from tradecounter.kit.numbers import Pounds
from tradecounter.parts.back_office import OfficeParts
from tradecounter.returns.handle_returns import fetch_return
from tradecounter.returns.wire import return_number

_COLUMNS = (
    Column("Credit note", "number"),
    Column("Customer"),
    Column("Invoice"),
    Column("Issued"),
    Column("Reason"),
    Column("Total", "gross", numeric=True),
)
_LATEST_FIRST = "-number"
_CELLS: Cells = {
    "number": "number",
    "invoice": "invoice",
    "customer_id": "customer_id",
    "customer": "customer",
    "issued_on": lambda row: uk_date(row.issued_at),
    "reason": "reason",
    "net": "net",
    "vat": "vat",
    "gross": "gross",
}


class CreditNoteTable(TableParameters, frozen=True, kw_only=True):
    """The filters of credit notes; both days are included."""

    invoice: Annotated[Annotated[int, Meta(ge=1)] | None, Filter("Invoice number", "numeric")] = None
    customer_id: Annotated[str | None, Filter("Customer", wide=True)] = None
    issued_from: Annotated[str | None, Filter("Issued from", "date")] = None
    issued_to: Annotated[str | None, Filter("Issued until", "date")] = None


class CreditedLine(Struct):
    """A line in the form; the shipping has an empty `item_id`. A line without a quantity is not credited."""

    item_id: int | None = None
    quantity: Annotated[int, Meta(ge=0)] | None = None


class CreditNoteForm(Struct, rename={"returned": "return"}):
    """Units of lines, or an amount without VAT; `returned` is the number of the return of these units."""

    reason: str
    lines: list[CreditedLine] = []
    amount: Pounds | None = None
    returned: str | None = None


class CreditNotePreview(Struct, frozen=True):
    """A credit note as it was issued, or would be, and what remains due of its invoice."""

    note: CreditNote
    due: Decimal

    @property
    def facts(self) -> Any:
        """What the form must show before the credit note is issued."""
        return self.note.lines, self.note.cost_net, self.note.cost_tax, self.note.cost_gross


class CreditNotePages(Struct, frozen=True):
    """Credit notes."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/credit-note",
        "Credit notes",
        columns=_COLUMNS,
        order=TableOrder(CREDIT_NOTES.sorts, _LATEST_FIRST, CREDIT_NOTES.place_of),
        template="credit_notes/list.html",
        file="credit-notes",
        cells=_CELLS,
        scope="billing:read",
    )
    async def list_credit_notes(self, tx: Transaction, wanted: CreditNoteTable, at: RowsToRead) -> list[CreditNoteRow]:
        credit_note_filter = CreditNoteFilter(
            customer_id=await named_customer(tx, "customer_id", wanted.customer_id),
            invoice=wanted.invoice,
            issued_from=start_of("issued_from", wanted.issued_from),
            issued_to=end_of("issued_to", wanted.issued_to),
        )
        return await CREDIT_NOTES.page(tx, credit_note_filter, **at)

    @page("/credit-note/{number}", "One credit note", scope="billing:read")
    async def show_credit_note(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            note = present_credit_note(await fetch_credit_note(tx, call.path_id("number", "credit note")))
            account = await fetch_account(tx, note.customer_id)
        return self.desk.show(call, "credit_notes/one.html", note=note, customer=account.name)

    @page("/credit-note/{number}/pdf", "A credit note as a PDF file", scope="billing:read")
    async def show_pdf(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            printed = await PRINTED_CREDIT_NOTES.one(tx, call.path_id("number", "credit note"))
        return file_response(printed.pdf, f"credit-note-{printed.number}.pdf", PDF)

    @page("/invoice/{number}/credit-note", "Issue a credit note", scope="billing:write")
    async def show_form(self, call: Call) -> Response:
        return await self._show_form(call, Filled(), None)

    @form("/invoice/{number}/credit-note", "Issue a credit note", scope="billing:write")
    async def issue(self, call: Call) -> Response:
        number = call.path_id("number", "invoice")

        async def work(tx: Transaction, body: CreditNoteForm, now: datetime) -> CreditNotePreview:
            note = await _credit(tx, number, body, self.parts, now)
            return CreditNotePreview(note, (await fetch_invoice(tx, number)).due)

        return await self.desk.change_as_seen(
            call,
            CreditNoteForm,
            work,
            again=lambda filled, preview: self._show_form(call, filled, preview),
            facts=lambda preview: preview.facts,
            to=lambda preview: f"/credit-note/{preview.note.number}",
            done=lambda preview: f"Credit note {preview.note.number} is issued. The customer gets it by e-mail.",
        )

    async def _show_form(self, call: Call, filled: Filled, preview: CreditNotePreview | None) -> Response:
        """Show the form, with the credit note that it would issue; the query may name a return to credit."""
        number = call.path_id("number", "invoice")
        query = {name: values[-1] for name, values in query_values(call.raw_query).items()}
        returned = filled.value("return", query.get("return", ""))
        async with self.desk.reading() as tx:
            invoice = await shown_invoice(tx, number, self.desk.clock.now())
            left = await creditable_of(tx, number)
            stored_return = await fetch_return(tx, returned) if returned else None
            wanted = [] if stored_return is None else (await creditable_of_return(tx, stored_return)).get(number, [])
        return self.desk.show(
            call,
            "credit_notes/issue.html",
            form=filled,
            invoice=invoice,
            lines=list(zip(invoice.lines, left.units, strict=True)),
            left=left,
            returned="" if stored_return is None else return_number(stored_return.id),
            wanted={line.line_id: line.quantity for line in wanted},
            reason="" if stored_return is None else reason_of(stored_return),
            preview=preview,
            seen="" if preview is None else seen_of(preview.facts),
        )


async def _credit(tx: Transaction, number: int, body: CreditNoteForm, parts: OfficeParts, now: datetime) -> CreditNote:
    """Credit what the form says; errors name the rows as the form has them."""
    chosen = [place for place, line in enumerate(body.lines) if line.quantity]
    if not chosen and body.amount is None:
        raise invalid("amount", "is required unless you credit units")
    if chosen and body.amount is not None:
        raise invalid("amount", "must be left out when you credit units")
    lines = [CreditLine(body.lines[place].item_id, body.lines[place].quantity or 0) for place in chosen]
    credit = lines if body.amount is None else body.amount
    returned = None if body.returned is None else (await fetch_return(tx, body.returned)).id
    with named_by(in_rows("lines", chosen, {"item_id": "quantity"})):
        return await issue_credit_note(tx, number, credit, body.reason, parts.letterhead, now, returned=returned)
