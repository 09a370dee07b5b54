"""`/quote`: all quotes, and one with list prices, costs and margin, which staff price."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page, views_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.quotes.queries import QuoteRow, QuoteView, quote_table

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
_CELLS: Cells = {
    "code": "code",
    "customer_id": "customer_id",
    "customer": "customer",
    "customer_reference": "customer_reference",
    "status": "status",
    "requested_at": "created_at",
    "priced_at": "priced_at",
    "expires_at": "expires_at",
    "order": "order_reference",
    "total": "total",
}


class QuoteTable(TableParameters, frozen=True, kw_only=True):
    """Which quotes are shown."""

    view: QuoteView = "waiting"


class QuoteListPages(Struct, frozen=True):
    """The list of quotes."""

    desk: PageDesk
    parts: OfficeParts

    async def _views(self, call: Call, listing: Listing[QuoteTable, QuoteRow], now: datetime) -> dict[str, Any]:
        chosen = listing.wanted.view
        return {**views_of(self.desk.view(call).here, "view", _VIEWS, chosen), "view": chosen, "now": now}

    @table_page(
        "/quote",
        "Quotes",
        columns=_COLUMNS,
        order=TableOrder(
            {"created": datetime},
            lambda wanted: "created" if wanted.view == "waiting" else "-created",
            lambda row, _: (row.created_at, row.id),
        ),
        template="quotes/list.html",
        file="quotes",
        cells=_CELLS,
        values=_views,
        scope="quotes:read",
    )
    async def list_quotes(self, tx: Transaction, wanted: QuoteTable, at: RowsToRead, now: datetime) -> list[QuoteRow]:
        return await quote_table(tx, wanted.view, now, wanted.most, at["after"], latest_first=at["descending"])
