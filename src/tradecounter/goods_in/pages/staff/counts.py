"""`/count-sheet`: what should be where, to be counted; and the count, with a preview of the differences."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.page_kit.tables import Column, Order, TableParameters
from tradecounter.edge.pages.listing import At, table_page
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk, seen_of
from tradecounter.edge.rest.call import Call
from tradecounter.goods_in.count_stock import Counted, compare_count, enter_count, read_count_lines, require_fitting
from tradecounter.goods_in.queries import Shelved, shelved_products
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.text import fold, plural
from tradecounter.parts.back_office import OfficeParts

_SHEET, _COUNT = "/count-sheet", "/count-sheet/return"
_COLUMNS = (Column("Product"), Column("Place"), Column("Counted"))


class CountSheet(TableParameters, frozen=True, kw_only=True):
    """The places and the products to count."""

    place: str = ""
    query: str = ""


class CountForm(Struct):
    """Lines of a SKU and the units that were counted, and why they were."""

    lines: str
    reason: str = "Count"


class CountPages(Struct, frozen=True):
    """Count sheets, and counts."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        _SHEET,
        "Count sheet",
        columns=_COLUMNS,
        order=Order({"place": str}, "place", lambda row, _: (row.location, row.id)),
        template="goods_in/count_sheet.html",
        file="count-sheet",
        cells={"sku": "sku", "counted": lambda _: "", "location": "location", "name": "name"},
        scope="stock:write",
    )
    async def show_sheet(self, tx: Transaction, wanted: CountSheet, at: At) -> Sequence[Shelved]:
        place, query = text("place", wanted.place) or "", text("query", wanted.query) or ""
        return await shelved_products(tx, fold(place), fold(query), wanted.most, at["after"])

    @page(_COUNT, "Enter a count", scope="stock:write")
    async def show_count(self, call: Call) -> Response:
        return await self._show(call, Filled(), None)

    @form(_COUNT, "Enter a count", scope="stock:write")
    async def count(self, call: Call) -> Response:
        async def work(tx: Transaction, body: CountForm, now: datetime) -> Sequence[Counted]:
            counts = read_count_lines(body.lines)
            try:
                found = await compare_count(tx, counts)
            except DomainError as error:  # its message names products, and the products are in this field
                raise invalid("lines", error.message) from error
            if all(each.fits for each in found):  # else the page shows it all, and `asked` rejects it
                await enter_count(tx, found, body.reason, now)
            return found

        return await self.desk.change_as_seen(
            call,
            CountForm,
            work,
            again=lambda filled, found: self._show(call, filled, found),
            facts=_facts,
            asked=lambda _body, found: require_fitting(found),
            to=_SHEET,
            done=lambda found: f"The count is entered: {plural(len(found), 'product')} had another number.",
        )

    async def _show(self, call: Call, filled: Filled, found: Sequence[Counted] | None) -> Response:
        seen = "" if found is None else seen_of(_facts(found))
        return self.desk.show(call, "goods_in/count.html", form=filled, found=found, seen=seen)


def _facts(found: Sequence[Counted]) -> list[Any]:
    return [[each.sku, each.expected, each.counted, each.allocated] for each in found]
