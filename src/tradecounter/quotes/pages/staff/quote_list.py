"""`/quote`: the quotes of all customers, the ones that wait for a price first."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Column, TableParameters
from tradecounter.edge.pages.listing import At, table_page, views_of
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
    Column("Requested", "created"),
    Column("Lines", numeric=True),
    Column("Goods with VAT", numeric=True),
    Column("State"),
)
_FILE_HEADINGS = (
    "code", "customer_id", "customer", "customer_reference", "status", "requested_at", "priced_at", "expires_at",
    "order", "total",
)  # fmt: skip


class QuoteTable(TableParameters, frozen=True, kw_only=True):
    """Which quotes are shown."""

    view: QuoteView = "waiting"


def _file_row(row: QuoteRow, now: datetime) -> tuple[object, ...]:
    moments = (row.created_at, row.priced_at, row.expires_at)
    shown = (None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in moments)
    return (
        row.code, row.customer_id, row.customer, row.customer_reference, row.status(now), *shown, row.order_reference,
        row.total,
    )  # fmt: skip


class QuoteListPages(Struct, frozen=True):
    """The list of quotes."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/quote",
        "Quotes",
        columns=_COLUMNS,
        sorts={"created": datetime},
        default=lambda wanted: "created" if wanted.view == "waiting" else "-created",
        place=lambda row, _: (row.created_at, row.id),
        template="quotes/list.html",
        file="quotes",
        headings=_FILE_HEADINGS,
        cells=_file_row,
        shown=lambda self, call, found: self._views(call, found.wanted.view),
        scope="quotes:read",
    )
    async def list_quotes(self, tx: Transaction, wanted: QuoteTable, at: At, now: datetime) -> list[QuoteRow]:
        return await quote_table(tx, wanted.view, now, wanted.most, at["after"], latest_first=at["descending"])

    async def _views(self, call: Call, chosen: QuoteView) -> dict[str, Any]:
        views = views_of(self.desk.view(call).here, "view", _VIEWS, chosen)
        return {**views, "view": chosen, "now": self.desk.clock.now()}
