"""`/invoice`, `/credit-note` and `/statement` of the customers' API: the documents of an account as data."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.billing.account_statement import read_statement, statement_csv
from tradecounter.billing.operations.examples import CREDIT_NOTE, INVOICE, STATEMENT
from tradecounter.billing.queries.credit_notes import (
    CreditNoteFilter,
    CreditNoteRecord,
    count_credit_notes,
    fetch_credit_note,
    list_credit_notes,
    printed_credit_note,
)
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    InvoiceRecord,
    count_invoices,
    fetch_own_invoice,
    list_invoices,
    printed_invoice,
)
from tradecounter.billing.reseller_wire import present_credit_note
from tradecounter.billing.shown_invoice import shown_invoices
from tradecounter.billing.statement_files import StatementPeriod, statement_days, statement_file
from tradecounter.billing.wire import (
    CustomerCreditNote,
    CustomerInvoice,
    CustomerStatement,
    own_credit_note,
    own_invoice,
    own_statement,
)
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.edge.operations.desk import text
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.days import Day, end_of, start_of
from tradecounter.edge.rest.headers import CONTENT_DISPOSITION, PAGING
from tradecounter.edge.rest.negotiation import CSV, JSON, choose_named
from tradecounter.edge.rest.operation import ID, Link, Media, Operation, Parameter, Sample, Success, endpoint
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE, note_size
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.edge.rest.responses import file_response, json_response
from tradecounter.kit.clock import Clock
from tradecounter.kit.csv_text import MEDIA_TYPE
from tradecounter.kit.digest import digest_of
from tradecounter.kit.json_text import to_json
from tradecounter.letterhead.seller import Letterhead

PDF = "application/pdf"
_PDF_FILE = Media({"type": "string", "format": "binary"})


def csv_media(example: str) -> Media:
    """Return a CSV file as the interface document describes it."""
    return Media({"type": "string"}, {"A table": example})


class DocumentList(PagedList, frozen=True, kw_only=True):
    """The parameters of lists of documents; both days are included."""

    order_reference: Annotated[
        str | None,
        Meta(description="Only those of the order with this reference.", examples=["PLN-100001"]),
    ] = None
    issued_from: (
        Annotated[Day, Meta(description="Only those issued on this UK day or later.", examples=["2026-01-01"])] | None
    ) = None
    issued_to: (
        Annotated[Day, Meta(description="Only those issued on this UK day or earlier.", examples=["2099-12-31"])] | None
    ) = None


INVOICE_COLUMNS = (
    "number", "order_reference", "customer_reference", "issued_on", "tax_point", "due_on", "state", "cost_net",
    "cost_tax", "cost_gross", "paid", "credited", "due",
)  # fmt: skip
_INVOICES: Layout[CustomerInvoice] = Layout("invoices", INVOICE_COLUMNS)
_CREDIT_NOTES: Layout[CustomerCreditNote] = Layout(
    "credit-notes",
    ("number", "invoice", "order_reference", "issued_on", "reason", "cost_net", "cost_tax", "cost_gross"),
)


class _Invoices(Struct, frozen=True):
    """A customer's invoices that match a filter, in their states at a moment."""

    chosen: InvoiceFilter
    now: datetime

    async def count(self, tx: Transaction) -> int:
        return await count_invoices(tx, self.chosen)

    async def read(
        self, tx: Transaction, most: int, start: int, behind: InvoiceRecord | None
    ) -> Sequence[InvoiceRecord]:
        chosen = self.chosen if behind is None else replace(self.chosen, before=behind.number)
        return await list_invoices(tx, chosen, most, start)

    async def shown(self, tx: Transaction, rows: Sequence[InvoiceRecord]) -> Sequence[CustomerInvoice]:
        return [own_invoice(invoice) for invoice in await shown_invoices(tx, rows, self.now)]


class _CreditNotes(Struct, frozen=True):
    """A customer's credit notes that match a filter."""

    chosen: CreditNoteFilter

    async def count(self, tx: Transaction) -> int:
        return await count_credit_notes(tx, self.chosen)

    async def read(
        self, tx: Transaction, most: int, start: int, behind: CreditNoteRecord | None
    ) -> Sequence[CreditNoteRecord]:
        chosen = self.chosen if behind is None else replace(self.chosen, before=behind.number)
        return await list_credit_notes(tx, chosen, most, start)

    async def shown(self, _tx: Transaction, rows: Sequence[CreditNoteRecord]) -> Sequence[CustomerCreditNote]:
        return [own_credit_note(present_credit_note(note)) for note in rows]


class DocumentEndpoints(Struct, frozen=True):
    """The endpoints of documents. `letterhead` reads files, so it is called in a thread."""

    database: Database
    clock: Clock
    letterhead: Callable[[], Letterhead]
    lists: RecordLists

    @endpoint(
        Operation(
            method="GET",
            path="/invoice",
            name="listInvoices",
            key_scopes=("account",),
            tag="Documents",
            summary="List your invoices, newest first",
            description=(
                "With their lines, and what is paid, credited and due today. With `Accept: text/csv`, a table without "
                "the lines. " + COUNTED_BY_SIZE
            ),
            query=DocumentList,
            success=Success(
                200,
                "The invoices of one page.",
                list[CustomerInvoice],
                {"List": [own_invoice(INVOICE)]},
                {CSV: csv_media(_INVOICES.table(own_invoice(INVOICE)))},
                headers=(*PAGING, CONTENT_DISPOSITION),
            ),
            sample=Sample({"limit": "3"}),
            cacheable=True,
        )
    )
    async def list_invoices(self, call: Call) -> Response:
        wanted = call.query(DocumentList)
        chosen = InvoiceFilter(customer_id=call.customer_id, **_filters(wanted))
        return await self.lists.respond(call, wanted, _Invoices(chosen, self.clock.now()), _INVOICES)

    @endpoint(
        Operation(
            method="GET",
            path="/invoice/{number}",
            name="getInvoiceByNumber",
            key_scopes=("account",),
            tag="Documents",
            summary="One invoice",
            description=(
                "With `Accept: application/pdf`, the file that was sent by e-mail, which never changes. "
                "`GET /order/{reference}/invoice` has all files of an order."
            ),
            path_parameters=(Parameter("number", "The invoice's number.", ID, 10001),),
            success=Success(
                200,
                "The invoice.",
                CustomerInvoice,
                {"Invoice": own_invoice(INVOICE)},
                {PDF: _PDF_FILE},
                headers=(CONTENT_DISPOSITION,),
            ),
            errors=(NOT_FOUND,),
            links=(
                Link("listInvoices", "One of the invoices, by its number.", {"number": "$response.body#/0/number"}),
            ),
            cacheable=True,
        )
    )
    async def show_invoice(self, call: Call) -> Response:
        number = call.path_id("number", "invoice")
        async with reading(self.database) as tx:
            if choose_named(call.accept, [PDF]) == PDF:
                printed = await printed_invoice(tx, number, call.customer_id)
                return _file(call, printed.pdf, f"invoice-{number}.pdf")
            record = await fetch_own_invoice(tx, call.customer_id, number)
            [invoice] = await shown_invoices(tx, [record], self.clock.now())
        return _data(call, own_invoice(invoice))

    @endpoint(
        Operation(
            method="GET",
            path="/credit-note",
            name="listCreditNotes",
            key_scopes=("account",),
            tag="Documents",
            summary="List your credit notes, newest first",
            description="With their lines. With `Accept: text/csv`, a table without the lines. " + COUNTED_BY_SIZE,
            query=DocumentList,
            success=Success(
                200,
                "The credit notes of one page.",
                list[CustomerCreditNote],
                {"List": [own_credit_note(CREDIT_NOTE)]},
                {CSV: csv_media(_CREDIT_NOTES.table(own_credit_note(CREDIT_NOTE)))},
                headers=(*PAGING, CONTENT_DISPOSITION),
            ),
            sample=Sample({"limit": "3"}),
            cacheable=True,
        )
    )
    async def list_credit_notes(self, call: Call) -> Response:
        wanted = call.query(DocumentList)
        chosen = CreditNoteFilter(customer_id=call.customer_id, **_filters(wanted))
        return await self.lists.respond(call, wanted, _CreditNotes(chosen), _CREDIT_NOTES)

    @endpoint(
        Operation(
            method="GET",
            path="/credit-note/{number}",
            name="getCreditNote",
            key_scopes=("account",),
            tag="Documents",
            summary="One credit note",
            description="With `Accept: application/pdf`, the file that was sent by e-mail. Neither ever changes.",
            path_parameters=(Parameter("number", "The credit note's number.", ID, 50001),),
            success=Success(
                200,
                "The credit note.",
                CustomerCreditNote,
                {"CreditNote": own_credit_note(CREDIT_NOTE)},
                {PDF: _PDF_FILE},
                headers=(CONTENT_DISPOSITION,),
            ),
            errors=(NOT_FOUND,),
            links=(
                Link(
                    "listCreditNotes",
                    "One of the credit notes, by its number.",
                    {"number": "$response.body#/0/number"},
                ),
            ),
            cacheable=True,
        )
    )
    async def show_credit_note(self, call: Call) -> Response:
        number = call.path_id("number", "credit note")
        async with reading(self.database) as tx:
            if choose_named(call.accept, [PDF]) == PDF:
                printed = await printed_credit_note(tx, number, call.customer_id)
                return _file(call, printed.pdf, f"credit-note-{number}.pdf")
            record = await fetch_credit_note(tx, number, call.customer_id)
        return _data(call, own_credit_note(present_credit_note(record)))

    @endpoint(
        Operation(
            method="GET",
            path="/statement",
            name="getStatement",
            key_scopes=("account",),
            tag="Documents",
            summary="Your statement",
            description=(
                "Invoices, credit notes and payments with the balance after each, oldest first, and what is due by "
                "age. With `Accept: text/csv` or `application/pdf`, a file. A statement with more than 500 entries "
                "counts as several requests against the rate limit: one per 500 entries."
            ),
            query=StatementPeriod,
            success=Success(
                200,
                "The statement.",
                CustomerStatement,
                {"Statement": own_statement(STATEMENT)},
                {CSV: csv_media(statement_csv(STATEMENT)), PDF: _PDF_FILE},
                headers=(CONTENT_DISPOSITION,),
            ),
            cacheable=True,
        )
    )
    async def show_statement(self, call: Call) -> Response:
        days, now = statement_days(call.query(StatementPeriod)), self.clock.now()
        media = choose_named(call.accept, [CSV, PDF])
        async with reading(self.database) as tx:
            account = await fetch_account(tx, call.customer_id)
            statement = await read_statement(tx, account.id, *days, now)
        note_size(call.request.scope, len(statement.entries))
        if media == PDF:
            return await statement_file(statement, "pdf", account.name, self.letterhead, now)
        if media == JSON:
            return _data(call, own_statement(statement))
        name = f"statement-{statement.since}-{statement.until}.csv"
        return _file(call, statement_csv(statement).encode(), name, MEDIA_TYPE)


def _filters(wanted: DocumentList) -> Mapping[str, Any]:
    """Return the filters of a list of documents, as the queries take them. Raises DomainError (invalid)."""
    return {
        "order_reference": text("order_reference", wanted.order_reference),
        "issued_from": start_of("issued_from", wanted.issued_from),
        "issued_to": end_of("issued_to", wanted.issued_to),
    }


def _data(call: Call, document: CustomerInvoice | CustomerCreditNote | CustomerStatement) -> Response:
    """Respond with a document as data, or with 304."""
    return conditional_response(call, digest_of(to_json(document)), JSON, lambda: json_response(document))


def _file(call: Call, content: bytes, name: str, media_type: str = PDF) -> Response:
    """Respond with a document as a file, or with 304."""
    return conditional_response(call, digest_of(content), media_type, lambda: file_response(content, name, media_type))
