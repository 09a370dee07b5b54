"""`/account/invoice`: the customer's invoices, with their PDF files."""

import asyncio
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.billing.owed import owed_of
from tradecounter.billing.queries.credit_notes import CreditNoteFilter, list_credit_notes
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    InvoiceRecord,
    fetch_own_invoice,
    list_invoices,
    printed_invoice,
    printed_invoices,
)
from tradecounter.billing.queries.ledger import open_invoices, unallocated_of
from tradecounter.billing.shown_invoice import shown_invoices
from tradecounter.billing.zipped_documents import zipped_documents
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, Order, TableParameters
from tradecounter.edge.pages.listing import At, table_page
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import ACCOUNTS, INVOICE_FILES
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.edge.rest.negotiation import PDF, ZIP
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.errors import not_found
from tradecounter.kit.local_time import uk_date
from tradecounter.letterhead.seller import bank_details
from tradecounter.parts.account import AccountParts
from tradecounter.payments.queries.payments import PaymentFilter, list_payments
from tradecounter.payments.remittances import told_invoices

_INVOICE_COLUMNS = (
    Column("Invoice"),
    Column("Your reference"),
    Column("Issued"),
    Column("Due"),
    Column("State"),
    Column("Total", numeric=True),
    Column("Left to pay", numeric=True),
)

_MOST_FILES = 100
_AMOUNTS = ("net", "vat", "gross")


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
        order=Order({"number": int}, "-number", lambda row, _: (0, row.number)),
        template="billing/invoices.html",
        file="invoices",
        cells=_INVOICE_CELLS,
        shown=lambda self, call, _: self._shown(call),
        user_roles=ACCOUNTS,
    )
    async def list_invoices(
        self, tx: Transaction, call: Call, wanted: InvoiceTable, at: At, now: datetime
    ) -> list[InvoiceRecord]:
        chosen = replace(_filter(call.customer_id, wanted, now), before=None if at["after"] is None else at["after"][1])
        return await list_invoices(tx, chosen, wanted.most)

    async def _shown(self, call: Call) -> dict[str, Any]:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            told = await told_invoices(tx, call.customer_id, now)
            owed = owed_of(await open_invoices(tx, call.customer_id), told, now)
            in_advance = await unallocated_of(tx, call.customer_id)
        return {"now": now, "owed": owed, "in_advance": in_advance, "bank": bank_details(self.parts.settings)}

    @page("/account/invoice/zip", "Invoices as a ZIP file", user_roles=ACCOUNTS, query=InvoiceTable)
    async def send_files(self, call: Call) -> Response:
        wanted = call.query(InvoiceTable)
        async with self.desk.reading() as tx:
            found = await list_invoices(tx, _filter(call.customer_id, wanted, self.desk.clock.now()), _MOST_FILES)
            printed = await printed_invoices(tx, [invoice.number for invoice in found])
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
            found = await printed_invoice(tx, number, call.customer_id)
        return file_response(found.pdf, f"invoice-{number}.pdf", PDF)


def _filter(customer_id: int, wanted: InvoiceTable, now: datetime) -> InvoiceFilter:
    """Return the filter of a customer's invoices. Raises DomainError (invalid)."""
    return InvoiceFilter(
        customer_id=customer_id,
        unpaid=wanted.show == "unpaid",
        overdue_at=now if wanted.show == "overdue" else None,
        reference=text("reference", wanted.reference),
        issued_from=start_of("issued_from", wanted.issued_from),
        issued_to=end_of("issued_to", wanted.issued_to),
    )
