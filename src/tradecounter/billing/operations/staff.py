"""`/api/invoice`, statements and debtors."""

from datetime import datetime
from decimal import Decimal
from operator import attrgetter

from msgspec import Struct
from starlette.responses import Response

from tradecounter.billing.account_statement import (
    AccountStatement,
    SentStatement,
    StatementPeriod,
    read_statement,
    send_statement,
    statement_days,
    statement_file,
)
from tradecounter.billing.debtors import Debtor, Reminder, read_debtors, remind_debtor
from tradecounter.billing.invoices import ResentInvoice, resend_invoice, shown_invoice, shown_invoices
from tradecounter.billing.operations.wire import (
    DESCRIBED,
    DebtorListParameters,
    InvoiceListParameters,
    InvoiceNumber,
    StatementParameters,
    VatPeriod,
)
from tradecounter.billing.queries.invoice_records import InvoiceFilter, list_invoices
from tradecounter.billing.queries.invoices import PRINTED_INVOICES
from tradecounter.billing.reseller_wire import Invoice
from tradecounter.billing.vat_report import VatReport, read_vat_report
from tradecounter.customers.operations.staff import ONE_CUSTOMER, CustomerId
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import FILE, ListPage, Subject
from tradecounter.edge.page_kit.tables import cursor_text, read_cursor
from tradecounter.edge.rest.days import day_of, time_or_end_of, time_or_start_of
from tradecounter.edge.rest.negotiation import CSV, PDF
from tradecounter.edge.rest.operation import Media
from tradecounter.edge.rest.responses import file_response
from tradecounter.letterhead.seller import Letterhead

_BILLING = Subject(tag="Billing", read="billing:read", write="billing:write", described=DESCRIBED)
_INVOICES, _INVOICE = "/api/invoice", "/api/invoice/{number}"
_STATEMENT = f"{ONE_CUSTOMER}/statement"
_NUMBER = attrgetter("number")


class InvoiceOperations(Struct, frozen=True):
    """The endpoints of invoices."""

    desk: Desk

    @_BILLING.lists(_INVOICES, "The invoices.")
    async def list_invoices(self, tx: Transaction, now: datetime, query: InvoiceListParameters) -> ListPage[Invoice]:
        """Invoices of all customers.

        The latest first.
        """
        invoice_filter = InvoiceFilter(
            customer_id=query.customer_id,
            issued_from=time_or_start_of("issued_from", query.issued_from),
            issued_to=time_or_end_of("issued_to", query.issued_to),
            unpaid=query.unpaid,
            overdue_at=now if query.overdue else None,
            before=query.after or None,
            changed_since=query.since,
        )
        invoices = await list_invoices(tx, invoice_filter, query.limit + 1)
        return ListPage(invoices, await shown_invoices(tx, invoices[: query.limit], now), _NUMBER)

    @_BILLING.shows(_INVOICE)
    async def get_invoice(self, tx: Transaction, now: datetime, number: InvoiceNumber) -> Invoice:
        """One invoice."""
        return await shown_invoice(tx, number, now)

    @_BILLING.shows(f"{_INVOICE}/pdf", "The PDF file.", files={PDF: FILE})
    async def get_invoice_pdf(self, tx: Transaction, number: InvoiceNumber) -> Response:
        """An invoice as a PDF file."""
        printed = await PRINTED_INVOICES.one(tx, number)
        return file_response(printed.pdf, f"invoice-{printed.number}.pdf", PDF)

    @_BILLING.changes("POST", f"{_INVOICE}/resend", roles=("support", "finance", "administrator"))
    async def resend_invoice(self, tx: Transaction, now: datetime, number: InvoiceNumber) -> ResentInvoice:
        """Send an invoice again.

        To the order's recipient and to the account's address for invoices.
        """
        return await resend_invoice(tx, number, now)


class StatementOperations(Struct, frozen=True):
    """The endpoints of statements, debtors and VAT."""

    desk: Desk
    letterhead: Letterhead

    @_BILLING.shows(_STATEMENT, files={CSV: Media({"type": "string"}), PDF: FILE})
    async def get_statement(
        self, customer_id: CustomerId, now: datetime, query: StatementParameters
    ) -> AccountStatement | Response:
        """A customer's statement.

        Invoices, credit notes and payments with the balance after each, and what is due by age.
        """
        statement, name = await self._statement(customer_id, query, now)
        if query.format == "json":
            return statement
        return file_response(*await statement_file(statement, query.format, name, lambda: self.letterhead, now))

    @_BILLING.shows(f"{_STATEMENT}/csv", "The statement.", files={CSV: FILE})
    async def get_statement_csv(self, customer_id: CustomerId, now: datetime, query: StatementPeriod) -> Response:
        """A customer's statement as a CSV file.

        The same as `?format=csv`, for clients that expect one type of an address.
        """
        statement, name = await self._statement(customer_id, query, now)
        return file_response(*await statement_file(statement, "csv", name, lambda: self.letterhead, now))

    @_BILLING.shows(f"{_STATEMENT}/pdf", "The statement.", files={PDF: FILE})
    async def get_statement_pdf(self, customer_id: CustomerId, now: datetime, query: StatementPeriod) -> Response:
        """A customer's statement as a PDF file.

        The same as `?format=pdf`, for clients that expect one type of an address.
        """
        statement, name = await self._statement(customer_id, query, now)
        return file_response(*await statement_file(statement, "pdf", name, lambda: self.letterhead, now))

    async def _statement(
        self, customer_id: int, wanted: StatementPeriod, now: datetime
    ) -> tuple[AccountStatement, str]:
        """Return a statement, and the customer's name."""
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, customer_id)
            statement = await read_statement(tx, customer_id, *statement_days(wanted), now)
        return statement, account.name

    @_BILLING.lists("/api/debtor", "The debtors.")
    async def list_debtors(self, tx: Transaction, now: datetime, query: DebtorListParameters) -> ListPage[Debtor]:
        """Customers with unpaid invoices.

        Those with the most overdue first.
        """
        debtors = await read_debtors(tx, now, query.limit + 1, read_cursor(query.after, Decimal))
        return ListPage(debtors, debtors, lambda debtor: cursor_text(debtor.overdue, debtor.customer_id))

    @_BILLING.changes("POST", f"{ONE_CUSTOMER}/remind")
    async def remind_debtor(self, tx: Transaction, now: datetime, customer_id: CustomerId) -> Reminder:
        """Remind a customer of all unpaid invoices.

        By e-mail to the account's address for invoices. 409 if nothing is due.
        """
        return await remind_debtor(tx, customer_id, now)

    @_BILLING.changes("POST", f"{_STATEMENT}/send")
    async def send_statement(self, tx: Transaction, now: datetime, customer_id: CustomerId) -> SentStatement:
        """Send a customer its statement.

        By e-mail to the account's address for invoices, as a PDF file.
        """
        return await send_statement(tx, customer_id, now)

    @_BILLING.shows("/api/vat")
    async def get_vat(self, tx: Transaction, now: datetime, query: VatPeriod) -> VatReport:
        """The VAT of a period.

        What its invoices and credit notes come to by rate, domestic and exported, and the boxes of a UK VAT return that
        sales fill. An invoice counts on its tax point, a credit note on the day of its issue. Without days: the last
        whole quarter.
        """
        days = day_of("from", query.since), day_of("to", query.until)
        return await read_vat_report(tx, *days, now)
