"""`/quote`: the quotes of all customers, the ones that wait for a price first."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.quotes.queries.quote_table import QuoteRow, QuoteView, quote_table

_VIEWS: tuple[tuple[QuoteView, str], ...] = (
    ("waiting", "Waiting"),
    ("priced", "Priced"),
    ("ordered", "Ordered"),
    ("declined", "Declined"),
    ("expired", "Expired"),
    ("all", "All"),
)
_COLUMNS = (
    Column("Quote"),
    Column("Customer"),
    Column("Requested"),
    Column("Lines", numeric=True),
    Column("Goods with VAT", numeric=True),
    Column("State"),
)
_FILE_HEADINGS = (
    "code", "customer_id", "customer", "customer_reference", "status", "requested_at", "priced_at", "expires_at",
    "order", "total",
)  # fmt: skip
_AS_LISTED = Sort("created", descending=False)


class QuoteTable(TableParameters, frozen=True, kw_only=True):
    """Which quotes are shown."""

    view: QuoteView = "waiting"


@dataclass(frozen=True, slots=True)
class QuoteListPages:
    """The list of quotes."""

    desk: PageDesk
    parts: OfficeParts

    @page("/quote", "Quotes", scope="quotes:read", query=QuoteTable)
    async def list_quotes(self, call: Call) -> Response:
        wanted = call.query(QuoteTable)
        after = read_cursor(wanted.after, datetime)
        async with self.desk.reading() as tx:
            found = await quote_table(tx, wanted.view, self.desk.clock.now(), wanted.most, after)
        if wanted.is_file:
            return csv_file("quotes", _FILE_HEADINGS, (_file_row(row, self.desk.clock.now()) for row in found))
        address = self.desk.view(call).at("/quote")
        table = Table.of(call, address, _COLUMNS, found, _AS_LISTED, lambda row: cursor_text(row.created_at, row.id))
        views = [(f"{address}?view={view}" if view != "waiting" else address, name) for view, name in _VIEWS]
        here = next(link for (link, _), (view, _) in zip(views, _VIEWS, strict=True) if view == wanted.view)
        return self.desk.show(
            call, "quotes/list.html", table=table, views=views, here=here, view=wanted.view, now=self.desk.clock.now()
        )


def _file_row(row: QuoteRow, now: datetime) -> tuple[object, ...]:
    moments = (row.created_at, row.priced_at, row.expires_at)
    shown = (None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in moments)
    return (
        row.code, row.customer_id, row.customer, row.customer_reference, row.status(now), *shown, row.order_reference,
        row.total,
    )  # fmt: skip
