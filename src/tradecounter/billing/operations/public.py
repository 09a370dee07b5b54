"""`/invoice`, `/statement`, `GET /order/{reference}/invoice` and `GET /customer/credit`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.billing.account_statement import (
    StatementPeriod,
    read_statement,
    statement_csv,
    statement_days,
    statement_file,
)
from tradecounter.billing.credit_overview import ORDERS_IN_A_PIECE, read_credit, write_overview
from tradecounter.billing.invoices import shown_invoices
from tradecounter.billing.operations.wire import INVOICE, STATEMENT, InvoiceNumber
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    InvoiceRecord,
    count_invoices,
    fetch_invoice,
    list_invoices,
)
from tradecounter.billing.queries.invoices import PRINTED_INVOICES, printed_documents
from tradecounter.billing.wire import (
    CREDIT,
    CreditOverview,
    CustomerInvoice,
    CustomerStatement,
    own_invoice,
    own_statement,
)
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, text
from tradecounter.edge.operations.subject import FILE, Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.days import Day, end_of, start_of
from tradecounter.edge.rest.headers import PAGING
from tradecounter.edge.rest.negotiation import CSV, JSON, PDF, choose_named
from tradecounter.edge.rest.operation import ErrorResponse, Link, Sample, csv_media
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE, note_size
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.edge.rest.responses import ChunkedResponse, file_response, json_response
from tradecounter.kit.csv_text import MEDIA_TYPE
from tradecounter.kit.digest import digest_of
from tradecounter.kit.errors import Code, DomainError, Kind
from tradecounter.kit.json_text import to_json
from tradecounter.letterhead.join_documents import joined
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.operations.public import OwnOrderReference
from tradecounter.orders.queries.orders import fetch_own_order
from tradecounter.orders.states import CancelledOrder

_DESCRIBED: Mapping[type, Described] = {
    CustomerInvoice: Described("The invoice.", own_invoice(INVOICE), "Invoice"),
    CustomerStatement: Described("The statement.", own_statement(STATEMENT), "Statement"),
    CreditOverview: Described("The credit overview; without credit terms, the limit is 0.", CREDIT),
}
_ORDERS = Subject(tag="Orders", keys=("account",))
_ACCOUNT = Subject(tag="Account", keys=("account",), described=_DESCRIBED)
_DOCUMENTS = Subject(tag="Documents", keys=("account",), described=_DESCRIBED)
BY_NUMBER = {"number": "$response.body#/0/number"}

_INVOICES: Layout[CustomerInvoice] = Layout(
    "invoices",
    ("number", "order_reference", "customer_reference", "issued_on", "tax_point", "due_on", "state", "cost_net",
     "cost_tax", "cost_gross", "paid", "credited", "due"),
)  # fmt: skip
_NOT_INVOICED = "the order has not been invoiced yet; try again later"


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


class _Invoices(Struct, frozen=True):
    """A customer's invoices that match a filter, in their states at a moment."""

    chosen: InvoiceFilter
    now: datetime

    async def count(self, tx: Transaction) -> int:
        return await count_invoices(tx, self.chosen)

    async def read(
        self, tx: Transaction, most: int, start: int, after: InvoiceRecord | None
    ) -> Sequence[InvoiceRecord]:
        chosen = self.chosen if after is None else replace(self.chosen, before=after.number)
        return await list_invoices(tx, chosen, most, start)

    async def shown(self, tx: Transaction, rows: Sequence[InvoiceRecord]) -> Sequence[CustomerInvoice]:
        return [own_invoice(invoice) for invoice in await shown_invoices(tx, rows, self.now)]


class BillingEndpoints(Struct, frozen=True):
    """The endpoints of invoices and of credit."""

    desk: Desk
    lists: RecordLists
    overview_lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # of long credit overviews

    @_ORDERS.shows(
        "/order/{reference}/invoice",
        "The invoices and credit notes as a PDF file.",
        files={PDF: FILE},
        errors=(
            ErrorResponse(
                412, "The order has not been invoiced yet, or is cancelled.", _NOT_INVOICED, code=Code.NOT_INVOICED
            ),
        ),
        links=(Link("getOrder", "The order's invoice.", {"reference": "$response.body#/order_reference"}),),
    )
    async def get_invoice(self, call: Call, reference: OwnOrderReference) -> Response:
        """The invoice of an order.

        `reference` is the order reference or the numeric order id. Before the first invoice, the response is 412: try
        again later. The file has all invoices and credit notes of the order, oldest first. Each of them never changes,
        and is also sent by e-mail.
        """
        async with self.desk.reading() as tx:
            order = await fetch_own_order(tx, call.customer_id, reference)
            documents = await printed_documents(tx, order.id)
        if not documents and isinstance(order, CancelledOrder):
            raise DomainError(
                Kind.PRECONDITION_FAILED, "the order is cancelled: it has no invoice", code=Code.CANCELLED
            )
        if not documents:
            raise DomainError(Kind.PRECONDITION_FAILED, _NOT_INVOICED, code=Code.NOT_INVOICED)
        pdf = await asyncio.to_thread(joined, [document.pdf for document in documents])
        name = f"invoice-{documents[0].number}.pdf" if len(documents) == 1 else f"invoices-{order.name}.pdf"
        return file_response(pdf, name, PDF)

    @_ACCOUNT.shows("/customer/credit")
    async def get_credit(self, call: Call, now: datetime) -> CreditOverview | Response:
        """Your credit.

        The credit limit, what you owe, what is left, and the orders that are not fully paid.
        """
        async with self.desk.reading() as tx:
            credit = await read_credit(tx, call.customer_id)
        pieces = write_overview(credit, now)
        if len(credit.debts) <= ORDERS_IN_A_PIECE:
            return Response(b"".join(pieces), media_type=JSON)
        return ChunkedResponse(pieces, self.overview_lock, headers={}, media_type=JSON)

    @_DOCUMENTS.shows(
        "/invoice",
        "The invoices of one page.",
        headers=PAGING,
        files={CSV: csv_media(_INVOICES.table(own_invoice(INVOICE)))},
        description="With their lines, and what is paid, credited and due today. With `Accept: text/csv`, a table "
        "without the lines. " + COUNTED_BY_SIZE,
        sample=Sample({"limit": "3"}),
        cacheable=True,
    )
    async def list_invoices(self, call: Call, now: datetime, query: DocumentList) -> list[CustomerInvoice] | Response:
        """List your invoices, newest first."""
        chosen = InvoiceFilter(customer_id=call.customer_id, **document_filters(query))
        return await self.lists.respond(call, query, _Invoices(chosen, now), _INVOICES)

    @_DOCUMENTS.shows(
        "/invoice/{number}",
        files={PDF: FILE},
        links=(Link("listInvoices", "One of the invoices, by its number.", BY_NUMBER),),
        cacheable=True,
    )
    async def get_invoice_by_number(
        self, tx: Transaction, call: Call, now: datetime, number: InvoiceNumber
    ) -> CustomerInvoice | Response:
        """One invoice.

        With `Accept: application/pdf`, the file that was sent by e-mail, which never changes. `GET
        /order/{reference}/invoice` has all files of an order.
        """
        if choose_named(call.accept, [PDF]) == PDF:
            printed = await PRINTED_INVOICES.one(tx, number, call.customer_id)
            return document_file(call, printed.pdf, f"invoice-{number}.pdf")
        record = await fetch_invoice(tx, number, call.customer_id)
        [invoice] = await shown_invoices(tx, [record], now)
        return data_response(call, own_invoice(invoice))


class StatementEndpoints(Struct, frozen=True):
    """The endpoint of the statement. `letterhead` reads files, so it is called in a thread."""

    desk: Desk
    letterhead: Callable[[], Letterhead]

    @_DOCUMENTS.shows("/statement", files={CSV: csv_media(statement_csv(STATEMENT)), PDF: FILE}, cacheable=True)
    async def get_statement(self, call: Call, now: datetime, query: StatementPeriod) -> CustomerStatement | Response:
        """Your statement.

        Invoices, credit notes and payments with the balance after each, oldest first, and what is due by age. With
        `Accept: text/csv` or `application/pdf`, a file. A statement with more than 500 entries counts as several
        requests against the rate limit: one per 500 entries.
        """
        days, media = statement_days(query), choose_named(call.accept, [CSV, PDF])
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, call.customer_id)
            statement = await read_statement(tx, account.id, *days, now)
        note_size(call.request.scope, len(statement.entries))
        if media == PDF:
            return file_response(*await statement_file(statement, "pdf", account.name, self.letterhead, now))
        if media == JSON:
            return data_response(call, own_statement(statement))
        name = f"statement-{statement.since}-{statement.until}.csv"
        return document_file(call, statement_csv(statement).encode(), name, MEDIA_TYPE)


def document_filters(wanted: DocumentList) -> Mapping[str, Any]:
    """Return the filters of a list of documents, as the queries take them. Raises DomainError (invalid)."""
    return {
        "order_reference": text("order_reference", wanted.order_reference),
        "issued_from": start_of("issued_from", wanted.issued_from),
        "issued_to": end_of("issued_to", wanted.issued_to),
    }


def data_response(call: Call, document: Struct) -> Response:
    """Respond with a document as data, or with 304."""
    return conditional_response(call, digest_of(to_json(document)), JSON, lambda: json_response(document))


def document_file(call: Call, content: bytes, name: str, media_type: str = PDF) -> Response:
    """Respond with a document as a file, or with 304."""
    return conditional_response(call, digest_of(content), media_type, lambda: file_response(content, name, media_type))
