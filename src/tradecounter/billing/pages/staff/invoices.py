"""`/invoice`: the invoices of all customers, one invoice, its PDF file, and sending it again."""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.audit.queries import entries_of
from tradecounter.billing.invoices import ResentInvoice, resend_invoice, shown_invoices
from tradecounter.billing.queries.document_tables import (
    INVOICES,
    InvoiceRow,
    InvoiceTableFilter,
    due_in_all,
    invoices_for,
)
from tradecounter.billing.queries.invoice_records import fetch_invoice
from tradecounter.billing.queries.invoices import PRINTED_INVOICES
from tradecounter.credit_notes.issue_credit_note import creditable_of
from tradecounter.credit_notes.queries import CreditNoteFilter, list_credit_notes
from tradecounter.customers.named_customer import named_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.edge.rest.negotiation import PDF
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import uk_date
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import told_of
from tradecounter.payments.queries.payments import PaymentFilter, list_payments

Shown = Literal["unpaid", "overdue", "paid"]
RESENDERS = ("support", "finance", "administrator")

_MOST_LISTED = 100
_COLUMNS = (
    Column("Invoice", "number"),
    Column("Customer"),
    Column("Order"),
    Column("Issued"),
    Column("Due on", "due_on"),
    Column("State"),
    Column("Total", "gross", numeric=True),
    Column("Due", "due", numeric=True),
)
_LATEST_FIRST, _OLDEST_DUE_FIRST = "-number", "due_on"
_TO_PAY = ("unpaid", "overdue")
_CELLS: Cells = {
    "number": "number",
    "order_reference": "order_reference",
    "customer_id": "customer_id",
    "customer": "customer",
    "issued_on": lambda row: uk_date(row.issued_at),
    "tax_point": lambda row: uk_date(row.supplied_at),
    "due_on": lambda row: uk_date(row.due_at),
    "state": lambda row, now: row.state(now),
    "net": "net",
    "vat": "vat",
    "gross": "gross",
    "paid": "paid",
    "credited": "credited",
    "due": "due",
}


class InvoiceTable(TableParameters, frozen=True, kw_only=True):
    """The filters of invoices; both days are included."""

    number: Annotated[Annotated[int, Meta(ge=1)] | None, Filter("Invoice number", "numeric")] = None
    customer_id: Annotated[str | None, Filter("Customer", wide=True)] = None
    show: Annotated[Shown | None, Filter("Show", "select", any="All")] = None
    order: Annotated[str | None, Filter("Order", "text", more=True)] = None
    issued_from: Annotated[str | None, Filter("Issued from", "date", more=True)] = None
    issued_to: Annotated[str | None, Filter("Issued until", "date", more=True)] = None


async def _filter_of(tx: Transaction, wanted: InvoiceTable, now: datetime) -> InvoiceTableFilter:
    return InvoiceTableFilter(
        number=wanted.number,
        customer_id=await named_customer(tx, "customer_id", wanted.customer_id),
        order_reference=text("order", wanted.order),
        issued_from=start_of("issued_from", wanted.issued_from),
        issued_to=end_of("issued_to", wanted.issued_to),
        unpaid={"unpaid": True, "paid": False}.get(wanted.show or ""),
        overdue_at=now if wanted.show == "overdue" else None,
    )


class InvoicePages(Struct, frozen=True):
    """Invoices."""

    desk: PageDesk
    parts: OfficeParts

    async def _due(self, tx: Transaction, listing: Listing[InvoiceTable, InvoiceRow], now: datetime) -> dict[str, Any]:
        """Return the total that is due, if the list has only invoices to pay."""
        is_to_pay = listing.rows and listing.wanted.show in _TO_PAY
        due = await due_in_all(tx, await _filter_of(tx, listing.wanted, now)) if is_to_pay else None
        return {"now": now, "shows": get_args(Shown), "due": due}

    @table_page(
        "/invoice",
        "Invoices",
        columns=_COLUMNS,
        order=TableOrder(
            INVOICES.sorts,
            lambda wanted: _OLDEST_DUE_FIRST if wanted.show in _TO_PAY else _LATEST_FIRST,
            INVOICES.place_of,
        ),
        template="billing/invoices.html",
        file="invoices",
        cells=_CELLS,
        values=_due,
        scope="billing:read",
    )
    async def list_invoices(
        self, tx: Transaction, wanted: InvoiceTable, at: RowsToRead, now: datetime
    ) -> list[InvoiceRow]:
        invoice_filter = await _filter_of(tx, wanted, now)
        return await invoices_for(invoice_filter).page(tx, invoice_filter, **at)

    @page("/invoice/{number}", "One invoice", scope="billing:read")
    async def show_invoice(self, call: Call) -> Response:
        number, now = call.path_id("number", "invoice"), self.desk.clock.now()
        async with self.desk.reading() as tx:
            record = await fetch_invoice(tx, number)
            [invoice] = await shown_invoices(tx, [record], now)
            account = await fetch_account(tx, invoice.customer_id)
            payments = await list_payments(tx, PaymentFilter(invoice=number), _MOST_LISTED)
            credit_notes = await list_credit_notes(tx, CreditNoteFilter(invoice=number), _MOST_LISTED)
            left = await creditable_of(tx, number)
            history = await entries_of(tx, [f"invoice/{number}"])
        return self.desk.show(
            call,
            "billing/invoice.html",
            invoice=invoice,
            state=record.state(now),
            customer=account.name,
            payments=[(payment, payment.share_of(number)) for payment in payments],
            credit_notes=credit_notes,
            left=left,
            history=told_of(history),
        )

    @page("/invoice/{number}/pdf", "An invoice as a PDF file", scope="billing:read")
    async def show_pdf(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            printed = await PRINTED_INVOICES.one(tx, call.path_id("number", "invoice"))
        return file_response(printed.pdf, f"invoice-{printed.number}.pdf", PDF)

    async def _ask_to_resend(self, tx: Transaction, call: Call) -> Question:
        invoice = await fetch_invoice(tx, call.path_id("number", "invoice"))
        return Question(
            title=f"Send invoice {invoice.number} again",
            text="It goes to the order's recipient and to the customer's address for invoices.",
            button="Send it",
            back=f"/invoice/{invoice.number}",
            back_name=f"Invoice {invoice.number}",
        )

    @step(
        "/invoice/{number}/resend",
        "Send an invoice again",
        asks=_ask_to_resend,
        to="/invoice/{number}",
        done=lambda sent: f"The invoice is sent to {' and '.join(sent.recipients)}.",
        scope="billing:write",
        roles=RESENDERS,
    )
    async def resend(self, tx: Transaction, call: Call, now: datetime) -> ResentInvoice:
        number = call.path_id("number", "invoice")
        return await resend_invoice(tx, number, now)
