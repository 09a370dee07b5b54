"""The customer's pages of billing: invoices, the statement, and the credit limit."""

import asyncio
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.billing.account_statement import (
    KINDS,
    MOST_SHOWN,
    ageing_of,
    read_statement,
    recent_days,
    statement_file,
)
from tradecounter.billing.credit_overview import owed_of, read_credit
from tradecounter.billing.invoices import shown_invoices
from tradecounter.billing.operations.wire import StatementParameters
from tradecounter.billing.print_invoice import zipped_documents
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    InvoiceRecord,
    fetch_invoice,
    list_invoices,
    overdue_of,
)
from tradecounter.billing.queries.invoices import PRINTED_INVOICES
from tradecounter.billing.queries.ledger import open_invoices, unallocated_of
from tradecounter.credit_notes.queries import CreditNoteFilter, list_credit_notes
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import ACCOUNTS, INVOICE_FILES, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import end_of, start_of
from tradecounter.edge.rest.negotiation import PDF, ZIP
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, not_found
from tradecounter.letterhead.seller import bank_details, letterhead_from
from tradecounter.parts.account import AccountParts
from tradecounter.parts.ageing_chart import ageing_chart
from tradecounter.payments.queries.payments import PaymentFilter, list_payments
from tradecounter.payments.remittances import announced_invoices

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

    show: Annotated[Literal["unpaid", "overdue"] | None, Filter("Show", "select", any="All invoices")] = None
    reference: Annotated[str | None, Filter("Order or reference", wide=True)] = None
    issued_from: Annotated[str | None, Filter("Issued from", "date", wide=True)] = None
    issued_to: Annotated[str | None, Filter("Issued until", "date", wide=True)] = None


class OwnInvoicePages(Struct, frozen=True):
    """The list of invoices, one of them, and their files."""

    desk: PageDesk
    parts: AccountParts

    async def _owed(self, tx: Transaction, call: Call, now: datetime) -> dict[str, Any]:
        told = await announced_invoices(tx, call.customer_id, now)
        owed = owed_of(await open_invoices(tx, call.customer_id), told, now)
        in_advance = await unallocated_of(tx, call.customer_id)
        return {"now": now, "owed": owed, "in_advance": in_advance, "bank": bank_details(self.parts.settings)}

    @table_page(
        "/account/invoice",
        "Invoices",
        columns=_INVOICE_COLUMNS,
        order=TableOrder({"number": int}, "-number", lambda row, _: (0, row.number)),
        template="billing/invoices.html",
        file="invoices",
        cells=_INVOICE_CELLS,
        values=_owed,
        user_roles=ACCOUNTS,
    )
    async def list_invoices(
        self, tx: Transaction, call: Call, wanted: InvoiceTable, at: RowsToRead, now: datetime
    ) -> list[InvoiceRecord]:
        chosen = replace(
            _invoice_filter(call.customer_id, wanted, now), before=None if at["after"] is None else at["after"][1]
        )
        return await list_invoices(tx, chosen, wanted.most)

    @page("/account/invoice/zip", "Invoices as a ZIP file", user_roles=ACCOUNTS, query=InvoiceTable)
    async def send_files(self, call: Call) -> Response:
        wanted = call.query(InvoiceTable)
        async with self.desk.reading() as tx:
            found = await list_invoices(
                tx, _invoice_filter(call.customer_id, wanted, self.desk.clock.now()), _MOST_FILES
            )
            printed = await PRINTED_INVOICES.several(tx, [invoice.number for invoice in found])
        if not printed:
            raise not_found("invoice")
        file = await asyncio.to_thread(zipped_documents, printed, "invoice")
        return file_response(file, "invoices.zip", ZIP)

    @page("/account/invoice/{number}", "One invoice", user_roles=INVOICE_FILES)
    async def show_one(self, call: Call) -> Response:
        number, now = call.path_id("number", "invoice"), self.desk.clock.now()
        async with self.desk.reading() as tx:
            record = await fetch_invoice(tx, number, call.customer_id)
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
            found = await PRINTED_INVOICES.one(tx, number, call.customer_id)
        return file_response(found.pdf, f"invoice-{number}.pdf", PDF)


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


_STATEMENT = "/account/invoice/statement"


class StatementPages(Struct, frozen=True):
    """The statement as a page and as files."""

    desk: PageDesk
    parts: AccountParts

    @page(_STATEMENT, "Statement", user_roles=ACCOUNTS, query=StatementParameters)
    async def show_statement(self, call: Call) -> Response:
        values = {name: found for name, found in query_values(call.raw_query).items() if any(found)}
        filled, wanted, now = Filled(values), StatementParameters(), self.desk.clock.now()
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, call.customer_id)
            try:
                wanted = call.query(StatementParameters)
                statement = await read_statement(tx, account.id, *recent_days(wanted, now), now)
            except DomainError as error:
                filled = filled.with_error(error)
                statement = await read_statement(tx, account.id, *recent_days(StatementParameters(), now), now)
        if wanted.format != "json" and not filled.errors:
            letterhead = partial(letterhead_from, self.parts.settings)
            return file_response(*await statement_file(statement, wanted.format, account.name, letterhead, now))
        days = {"from": statement.since.isoformat(), "to": statement.until.isoformat()}
        address = self.desk.view(call).at(_STATEMENT)
        this_month = uk_date(now).replace(day=1)
        last_day = this_month - timedelta(days=1)
        spans = (
            ("This month", {"from": this_month.isoformat()}),
            ("Last month", {"from": last_day.replace(day=1).isoformat(), "to": last_day.isoformat()}),
        )
        return self.desk.show(
            call,
            "billing/statement.html",
            form=filled,
            statement=statement,
            entries=statement.entries[-MOST_SHOWN:],
            kinds=KINDS,
            days=days,
            months=[(name, f"{address}?{urlencode(span)}") for name, span in spans],
            files=[(name, f"{address}?{urlencode({**days, 'format': name})}") for name in ("csv", "pdf")],
            chart=ageing_chart("Due by age", statement.ageing),
        )


_MOST_UNPAID = 100


class CreditPages(Struct, frozen=True):
    """The page of the credit."""

    desk: PageDesk
    parts: AccountParts

    @page("/account/credit", "Credit", user_roles=ACCOUNTS)
    async def show_credit(self, call: Call) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, call.customer_id)
            credit = await read_credit(tx, account.id)
            overdue = await overdue_of(tx, account.id, now)
            unallocated = await unallocated_of(tx, account.id)
            ageing = ageing_of(await open_invoices(tx, account.id), uk_date(now))
        return self.desk.show(
            call,
            "billing/credit.html",
            account=account,
            credit=credit,
            available=credit.limit - credit.outstanding,
            overdue=overdue,
            unallocated=unallocated,
            debts=credit.debts.between(0, _MOST_UNPAID),
            now=now,
            more=max(len(credit.debts) - _MOST_UNPAID, 0),
            chart=ageing_chart("Due by age", ageing),
        )
