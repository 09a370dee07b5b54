"""`/api/invoice`, `/api/credit-note`, statements and debtors."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from starlette.responses import Response

from tradecounter.backoffice import billing_examples as examples
from tradecounter.backoffice.billing_steps import credit_invoice
from tradecounter.backoffice.billing_wire import (
    CreditNoteListParameters,
    CreditNoteRequest,
    DebtorListParameters,
    InvoiceListParameters,
    StatementParameters,
    StatementPeriod,
)
from tradecounter.backoffice.customers import CUSTOMER_ID, NEW
from tradecounter.backoffice.desk import NEXT, POST_HEADERS, Desk, DryRun, Nothing, moment, page
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.billing.account_statement import (
    AccountStatement,
    read_statement,
    statement_csv,
)
from tradecounter.billing.debtors import Debtor, read_debtors
from tradecounter.billing.print_statement import print_statement
from tradecounter.billing.queries.credit_notes import (
    CreditNoteFilter,
    list_credit_notes,
    printed_credit_note,
    the_credit_note,
)
from tradecounter.billing.queries.lookup import (
    InvoiceFilter,
    list_invoices,
    printed_invoice,
)
from tradecounter.billing.reseller_wire import (
    CreditNote,
    Invoice,
    present_credit_note,
)
from tradecounter.billing.resend_invoice import ResentInvoice, resend_invoice
from tradecounter.billing.shown_invoice import shown_invoice, shown_invoices
from tradecounter.customers.queries.accounts import the_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.letterhead.seller import Letterhead
from tradecounter.page_kit.tables import cursor_text, read_cursor
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import CONTENT_DISPOSITION, IDEMPOTENT_REPLAY
from tradecounter.rest.operation import ID, Body, Media, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import file_response, json_response

_INVOICE = Parameter("number", "The invoice's number.", ID, 10001)
_CREDIT_NOTE = Parameter("number", "The credit note's number.", ID, 1)
_PDF, _CSV = "application/pdf", "text/csv"
_BINARY = Media({"type": "string", "format": "binary"})


def _pdf_of(name: str, path: str, what: str, parameter: Parameter) -> Operation:
    return Operation(
        method="GET",
        path=path,
        name=name,
        tag="Billing",
        summary=f"{what} as a PDF file",
        path_parameters=(parameter,),
        success=Success(200, "The PDF file.", media_types={_PDF: _BINARY}, headers=(CONTENT_DISPOSITION,)),
        errors=(NOT_FOUND,),
        scope="billing:read",
    )


def _statement_as(name: str, path: str, what: str, media_types: dict[str, Media]) -> Operation:
    return Operation(
        method="GET",
        path=f"/api/customer/{{id}}/statement/{path}",
        name=name,
        tag="Billing",
        summary=f"A customer's statement as {what}",
        description=f"The same as `?format={path}`, for clients that expect one type of an address.",
        path_parameters=(CUSTOMER_ID,),
        query=StatementPeriod,
        success=Success(200, "The statement.", media_types=media_types, headers=(CONTENT_DISPOSITION,)),
        errors=(NOT_FOUND,),
        scope="billing:read",
    )


@dataclass(frozen=True, slots=True)
class BillingDesk:
    """The endpoints of invoices, credit notes, statements and debtors."""

    desk: Desk
    letterhead: Letterhead

    @endpoint(
        Operation(
            method="GET",
            path="/api/invoice",
            name="listInvoices",
            tag="Billing",
            summary="Invoices of all customers",
            description="The latest first.",
            query=InvoiceListParameters,
            success=Success(200, "The invoices.", list[Invoice], {"List": [examples.INVOICE]}, headers=(NEXT,)),
            scope="billing:read",
        )
    )
    async def list_invoices(self, call: Call) -> Response:
        wanted = call.query(InvoiceListParameters)
        chosen = InvoiceFilter(
            customer_id=wanted.customer_id,
            issued_from=moment("issued_from", wanted.issued_from),
            issued_to=moment("issued_to", wanted.issued_to),
            unpaid=wanted.unpaid == "true",
            overdue_at=self.desk.clock.now() if wanted.overdue == "true" else None,
            before=wanted.after or None,
        )
        async with self.desk.reading() as tx:
            found = await list_invoices(tx, chosen, wanted.limit + 1)
            shown = await shown_invoices(tx, found[: wanted.limit])
        return page(call, found, wanted.limit, lambda invoice: invoice.number, shown)

    @endpoint(
        Operation(
            method="GET",
            path="/api/invoice/{number}",
            name="getInvoice",
            tag="Billing",
            summary="One invoice",
            path_parameters=(_INVOICE,),
            success=Success(200, "The invoice.", Invoice, {"Invoice": examples.INVOICE}),
            errors=(NOT_FOUND,),
            scope="billing:read",
        )
    )
    async def show_invoice(self, call: Call) -> Response:
        number = call.path_id("number", "invoice")
        async with self.desk.reading() as tx:
            return json_response(await shown_invoice(tx, number))

    @endpoint(_pdf_of("getInvoicePdf", "/api/invoice/{number}/pdf", "An invoice", _INVOICE))
    async def show_invoice_pdf(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await printed_invoice(tx, call.path_id("number", "invoice"))
        return file_response(found.pdf, f"invoice-{found.number}.pdf", _PDF)

    @endpoint(
        Operation(
            method="POST",
            path="/api/invoice/{number}/resend",
            name="resendInvoice",
            tag="Billing",
            summary="Send an invoice again",
            description="To the order's recipient and to the account's address for invoices.",
            path_parameters=(_INVOICE,),
            request_headers=POST_HEADERS,
            success=Success(
                200, "The recipients.", ResentInvoice, {"Resent": examples.RESENT}, headers=(IDEMPOTENT_REPLAY,)
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
            roles=("support", "finance", "administrator"),
        )
    )
    async def resend_invoice(self, call: Call) -> Response:
        number = call.path_id("number", "invoice")

        async def work(tx: Transaction, _: Nothing, now: datetime) -> ResentInvoice:
            return await resend_invoice(tx, number, now)

        return await self.desk.change(call, Nothing, work)

    @endpoint(
        Operation(
            method="POST",
            path="/api/invoice/{number}/credit-note",
            name="issueCreditNote",
            tag="Billing",
            summary="Issue a credit note",
            description=(
                "Of units of the invoice's lines, or of an amount without VAT; at most what is invoiced and not yet "
                "credited. Money that had paid for it goes to the account. A return is closed once all its units came "
                "back and are credited. A dry run shows the credit note, with the number that it would get now."
            ),
            path_parameters=(_INVOICE,),
            query=DryRun,
            request_headers=POST_HEADERS,
            body=Body(CreditNoteRequest, {"CreditNote": examples.NEW_CREDIT_NOTE}),
            success=Success(201, "The credit note.", CreditNote, {"CreditNote": examples.CREDIT_NOTE}, headers=NEW),
            dry_run=Success(200, "The credit note of a dry run.", CreditNote, {"CreditNote": examples.CREDIT_NOTE}),
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def issue_credit_note(self, call: Call) -> Response:
        number, dry_run = call.path_id("number", "invoice"), call.query(DryRun).is_wanted

        async def work(tx: Transaction, body: CreditNoteRequest, now: datetime) -> CreditNote:
            return await credit_invoice(tx, number, body, self.letterhead, now)

        location = "/api/credit-note/{number}"
        return await self.desk.change(call, CreditNoteRequest, work, status=201, location=location, dry_run=dry_run)

    @endpoint(
        Operation(
            method="GET",
            path="/api/credit-note",
            name="listCreditNotes",
            tag="Billing",
            summary="Credit notes of all customers",
            description="The latest first.",
            query=CreditNoteListParameters,
            success=Success(
                200, "The credit notes.", list[CreditNote], {"List": [examples.CREDIT_NOTE]}, headers=(NEXT,)
            ),
            scope="billing:read",
        )
    )
    async def list_credit_notes(self, call: Call) -> Response:
        wanted = call.query(CreditNoteListParameters)
        chosen = CreditNoteFilter(customer_id=wanted.customer_id, invoice=wanted.invoice, before=wanted.after or None)
        async with self.desk.reading() as tx:
            found = await list_credit_notes(tx, chosen, wanted.limit + 1)
        shown = map(present_credit_note, found[: wanted.limit])
        return page(call, found, wanted.limit, lambda note: note.number, shown)

    @endpoint(
        Operation(
            method="GET",
            path="/api/credit-note/{number}",
            name="getCreditNote",
            tag="Billing",
            summary="One credit note",
            path_parameters=(_CREDIT_NOTE,),
            success=Success(200, "The credit note.", CreditNote, {"CreditNote": examples.CREDIT_NOTE}),
            errors=(NOT_FOUND,),
            scope="billing:read",
        )
    )
    async def show_credit_note(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await the_credit_note(tx, call.path_id("number", "credit note"))
        return json_response(present_credit_note(found))

    @endpoint(_pdf_of("getCreditNotePdf", "/api/credit-note/{number}/pdf", "A credit note", _CREDIT_NOTE))
    async def show_credit_note_pdf(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await printed_credit_note(tx, call.path_id("number", "credit note"))
        return file_response(found.pdf, f"credit-note-{found.number}.pdf", _PDF)

    @endpoint(
        Operation(
            method="GET",
            path="/api/customer/{id}/statement",
            name="getStatement",
            tag="Billing",
            summary="A customer's statement",
            description="Invoices, credit notes and payments with the balance after each, and what is due by age.",
            path_parameters=(CUSTOMER_ID,),
            query=StatementParameters,
            success=Success(
                200,
                "The statement.",
                AccountStatement,
                {"Statement": examples.STATEMENT},
                {_CSV: Media({"type": "string"}), _PDF: _BINARY},
                headers=(CONTENT_DISPOSITION,),
            ),
            errors=(NOT_FOUND,),
            scope="billing:read",
        )
    )
    async def show_statement(self, call: Call) -> Response:
        wanted = call.query(StatementParameters)
        if wanted.format == "csv":
            return await self._csv(call, wanted)
        if wanted.format == "pdf":
            return await self._pdf(call, wanted)
        return json_response((await self._statement(call, wanted))[0])

    @endpoint(_statement_as("getStatementCsv", "csv", "a CSV file", {_CSV: _BINARY}))
    async def show_statement_csv(self, call: Call) -> Response:
        return await self._csv(call, call.query(StatementPeriod))

    @endpoint(_statement_as("getStatementPdf", "pdf", "a PDF file", {_PDF: _BINARY}))
    async def show_statement_pdf(self, call: Call) -> Response:
        return await self._pdf(call, call.query(StatementPeriod))

    async def _csv(self, call: Call, wanted: StatementPeriod) -> Response:
        found, customer = await self._statement(call, wanted)
        return await statement_file(found, "csv", customer, lambda: self.letterhead, self.desk.clock.now())

    async def _pdf(self, call: Call, wanted: StatementPeriod) -> Response:
        found, customer = await self._statement(call, wanted)
        return await statement_file(found, "pdf", customer, lambda: self.letterhead, self.desk.clock.now())

    async def _statement(self, call: Call, wanted: StatementPeriod) -> tuple[AccountStatement, str]:
        """Return a statement, and the customer's name."""
        customer_id = call.path_id("id", "customer")
        async with self.desk.reading() as tx:
            account = await the_account(tx, customer_id)
            found = await read_statement(tx, customer_id, *statement_days(wanted), self.desk.clock.now())
        return found, account.name

    @endpoint(
        Operation(
            method="GET",
            path="/api/debtor",
            name="listDebtors",
            tag="Billing",
            summary="Customers with unpaid invoices",
            description="Those with the most overdue first.",
            query=DebtorListParameters,
            success=Success(200, "The debtors.", list[Debtor], {"List": [examples.DEBTOR]}, headers=(NEXT,)),
            scope="billing:read",
        )
    )
    async def list_debtors(self, call: Call) -> Response:
        wanted = call.query(DebtorListParameters)
        async with self.desk.reading() as tx:
            found = await read_debtors(tx, self.desk.clock.now(), wanted.limit + 1, read_cursor(wanted.after, Decimal))
        shown = found[: wanted.limit]
        return page(call, found, wanted.limit, lambda debtor: cursor_text(debtor.overdue, debtor.customer_id), shown)


def statement_days(wanted: StatementPeriod) -> tuple[date | None, date | None]:
    """Return the first and the last day of a statement, if they are given. Raises DomainError (invalid)."""
    return _day("from", wanted.since), _day("to", wanted.until)


async def statement_file(
    statement: AccountStatement,
    file_format: Literal["csv", "pdf"],
    customer: str,
    letterhead: Callable[[], Letterhead],
    now: datetime,
) -> Response:
    """Respond with a statement as a file; `customer` is the customer's name. `letterhead` is called in a thread."""
    name = f"statement-{statement.customer_id}-{statement.until}"
    if file_format == "csv":
        return file_response(statement_csv(statement).encode(), f"{name}.csv", _CSV)
    pdf = await asyncio.to_thread(lambda: print_statement(statement, customer, letterhead(), now))
    return file_response(pdf, f"{name}.pdf", _PDF)


def _day(field: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise invalid(field, f"{text[:40]!r} is not a date, such as 2026-06-01") from error
