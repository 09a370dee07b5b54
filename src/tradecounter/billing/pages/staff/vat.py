"""`/vat`: the VAT of a period, with the invoices and credit notes behind its figures."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from msgspec import Struct
from starlette.responses import Response

from tradecounter.billing.operations.wire import VatPeriod
from tradecounter.billing.queries.document_tables import BY_DAY, VAT_DOCUMENTS, VatDocument, VatDocumentFilter, VatKind
from tradecounter.billing.vat_report import VatReport, VatSupply, quarters, read_vat_report, vat_csv
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import PERIOD_NAMES, day_of, end_of, start_of
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import uk_date
from tradecounter.kit.csv_text import MEDIA_TYPE
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.numbers import UnreadableNumberError, read_percent
from tradecounter.orders.rules import VAT_AREA
from tradecounter.parts.back_office import OfficeParts

_KINDS: dict[VatKind, str] = {"invoice": "Invoices", "credit_note": "Credit notes"}
_SUPPLIES: dict[VatSupply, str] = {"domestic": "Domestic", "export": "Export"}
_NAMES: Mapping[str, Any] = {"kinds": _KINDS, "supplies": _SUPPLIES}
_COLUMNS = (
    Column("Document"),
    Column("Customer"),
    Column("Order"),
    Column("Day", BY_DAY),
    Column("Delivery"),
    Column("Rate", numeric=True),
    Column("Net", numeric=True),
    Column("VAT", numeric=True),
    Column("Total", numeric=True),
)
_CELLS: Cells = {
    "day": lambda row: uk_date(row.at),
    "kind": "kind",
    "number": "number",
    "order_reference": "order_reference",
    "customer_id": "customer_id",
    "customer": "customer",
    "country": "country",
    "tax_rate": "rate",
    "cost_net": "net",
    "cost_tax": "vat",
    "cost_gross": "gross",
}


class VatPage(VatPeriod, frozen=True, kw_only=True):
    """The days, and whether the lines are wanted as a file."""

    format: Literal["html", "csv"] = "html"


class VatDocumentTable(TableParameters, frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """Invoices by their tax point, or credit notes by the day of their issue; both days are included."""

    kind: Annotated[VatKind, Filter("Documents", "select")] = "invoice"
    since: Annotated[str | None, Filter("From", "date")] = None
    until: Annotated[str | None, Filter("To", "date")] = None
    supply: Annotated[VatSupply | None, Filter("Delivery", "select", any="All", more=True)] = None
    rate: Annotated[str | None, Filter("Rate in %", "decimal", more=True)] = None


class VatPages(Struct, frozen=True):
    """The VAT of a period."""

    desk: PageDesk
    parts: OfficeParts

    @page("/vat", "VAT", scope="billing:read", query=VatPage)
    async def show_vat(self, call: Call) -> Response:
        filled, wanted, now = Filled(query_values(call.raw_query)), VatPage(), self.desk.clock.now()
        async with self.desk.reading() as tx:
            try:
                wanted = call.query(VatPage)
                vat_report = await read_vat_report(tx, day_of("from", wanted.since), day_of("to", wanted.until), now)
            except DomainError as error:
                filled = filled.with_error(error)
                vat_report, wanted = await read_vat_report(tx, None, None, now), VatPage()
        if wanted.format == "csv":
            return file_response(vat_csv(vat_report), f"vat-{vat_report.since}-{vat_report.until}.csv", MEDIA_TYPE)
        return self.desk.show(
            call,
            "billing/vat.html",
            form=filled,
            vat=vat_report,
            days=_days(vat_report.since, vat_report.until),
            quarters=self._quarters(call, vat_report, uk_date(now)),
            **_NAMES,
        )

    def _quarters(self, call: Call, vat_report: VatReport, today: date) -> list[tuple[str, str]]:
        """Return the addresses and names of the latest quarters, which end in the same months as the shown one."""
        address = self.desk.view(call).at("/vat")
        return [
            (f"{address}?{_days(first, last)}", f"{first:%b} to {last:%b %Y}")
            for first, last in quarters(today, vat_report.until)
        ]

    @table_page(
        "/vat/document",
        "Documents of a VAT return",
        columns=_COLUMNS,
        order=TableOrder(VAT_DOCUMENTS["invoice"].sorts, BY_DAY, VAT_DOCUMENTS["invoice"].place_of),
        template="billing/vat_documents.html",
        file="vat-documents",
        cells=_CELLS,
        values=_NAMES,
        scope="billing:read",
    )
    async def list_documents(self, tx: Transaction, wanted: VatDocumentTable, at: RowsToRead) -> Sequence[VatDocument]:
        vat_document_filter = VatDocumentFilter(
            since=start_of("from", wanted.since),
            before=end_of("to", wanted.until),
            rate=_rate(wanted.rate),
            inside=list(VAT_AREA) if wanted.supply == "domestic" else None,
            outside=list(VAT_AREA) if wanted.supply == "export" else None,
        )
        return await VAT_DOCUMENTS[wanted.kind].page(tx, vat_document_filter, **at)


def _days(since: date, until: date) -> str:
    return urlencode({"from": since, "to": until})


def _rate(text: str | None) -> Decimal | None:
    """Return a rate of VAT in per cent. Raises DomainError (invalid)."""
    try:
        return None if text is None else read_percent(text)
    except UnreadableNumberError as error:
        raise invalid("rate", str(error)) from error
