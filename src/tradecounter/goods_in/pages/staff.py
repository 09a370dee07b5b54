"""`/goods-in`: what is expected, and booking it in; `/count-sheet`: what should be where, and the count of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled, in_rows
from tradecounter.edge.page_kit.tables import Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import action
from tradecounter.edge.rest.call import Call
from tradecounter.goods_in.count_stock import Counted, compare_count, enter_count, read_count_lines, require_fitting
from tradecounter.goods_in.queries import ExpectedGoods, Shelved, expected_goods, shelved_products
from tradecounter.goods_in.receive_goods import BookedIn, ReceivedGoods, receive_goods
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid, invalid_fields, named_by
from tradecounter.kit.text import and_more, fold, plural
from tradecounter.kit.wire import Moment, made_from
from tradecounter.orders.adjust_stock import MOST_ON_HAND
from tradecounter.parts.back_office import OfficeParts

_GOODS_IN = "/goods-in"
_MOST_SHOWN = 100
_MOST_PRODUCTS_NAMED = 5  # in a message
_DOUBTFUL_TIMES = 2  # times what is expected


class GoodsInQuery(Struct, frozen=True):
    """The products whose deliveries are shown."""

    query: str = ""


class ReceivedRow(Struct):
    """A delivery in the form. It is booked if its units are filled in, or if it ends."""

    sku: str
    expected_on: Moment
    incoming: int
    units: Annotated[int, Meta(ge=0, le=MOST_ON_HAND)] | None = None
    ends: bool = False
    sure: bool = False

    @property
    def is_doubtful(self) -> bool:
        """Whether so much more is there than expected that it may be a slip."""
        return (self.units or 0) > _DOUBTFUL_TIMES * self.incoming and not self.sure


class ReceivedForm(Struct):
    """The deliveries of the page."""

    items: list[ReceivedRow] = []


class DeliveryRow(Struct, frozen=True):
    """A row of the form: its number, and what is expected; nothing, if a row that was sent is not in the list now."""

    number: int
    sku: str
    goods: ExpectedGoods | None


def _delivery_rows(goods_in: Sequence[ExpectedGoods], filled: Filled) -> list[DeliveryRow]:
    """Return the rows that were sent, with their numbers, and after them those that are new in the list."""
    new = {(goods.sku, goods.expected_on.isoformat()): goods for goods in goods_in}
    rows = []
    for number in filled.rows("items"):
        sku, expected_on = (filled.value(f"items-{number}-{name}") for name in ("sku", "expected_on"))
        rows.append(DeliveryRow(number, sku, new.pop((sku, expected_on), None)))
    first = rows[-1].number + 1 if rows else 0
    return rows + [DeliveryRow(number, goods.sku, goods) for number, goods in enumerate(new.values(), start=first)]


def _said_of_booking(booked: Sequence[BookedIn]) -> str:
    units, served = sum(each.units for each in booked), sum(each.served for each in booked)
    other = [f"{each.sku} {each.units - each.expected:+}" for each in booked if each.units != each.expected]
    parts = [f"{plural(units, 'unit')} of {plural(len(booked), 'product')} booked in."]
    if served:
        parts.append(f"{plural(served, 'unit')} for orders that have waited.")
    if other:
        parts.append(f"Other than expected: {and_more(other, _MOST_PRODUCTS_NAMED)}.")
    return " ".join(parts)


_SHEET, _COUNT = "/count-sheet", "/count-sheet/return"
_SHEET_COLUMNS = (Column("Product"), Column("Place"), Column("Counted"))


class CountSheet(TableParameters, frozen=True, kw_only=True):
    """The places and the products to count."""

    place: Annotated[str, Filter("Place begins with")] = ""
    query: Annotated[str, Filter("SKU or name", wide=True)] = ""


class CountForm(Struct):
    """Lines of a SKU and the units that were counted, and why they were."""

    lines: str
    reason: str = "Count"


class GoodsInPages(Struct, frozen=True):
    """Expected deliveries, count sheets, and counts."""

    desk: PageDesk
    parts: OfficeParts

    @page(_GOODS_IN, "Goods in", scope="stock:write", query=GoodsInQuery)
    async def show_goods_in(self, call: Call, filled: Filled) -> Response:
        query = text("query", call.query(GoodsInQuery).query) or ""
        async with self.desk.reading() as tx:
            counted = await expected_goods(tx, fold(query), _MOST_SHOWN)
        rows = _delivery_rows(counted, filled)
        return self.desk.show(call, "goods_in/goods_in.html", form=filled, rows=rows, query=query, most=_MOST_SHOWN)

    @action(
        _GOODS_IN,
        "Book goods in",
        shown=show_goods_in,
        to=_GOODS_IN,
        done=_said_of_booking,
        scope="stock:write",
    )
    async def receive(self, tx: Transaction, body: ReceivedForm, now: datetime) -> list[BookedIn]:
        rows = [place for place, row in enumerate(body.items) if row.units is not None or row.ends]
        if not rows:
            raise DomainError(Kind.INVALID, "fill in how many units are there")
        doubts = [
            FieldError(f"items[{place}].sure", f"{row.units} are there, and {row.incoming} are expected")
            for place in rows
            if (row := body.items[place]).is_doubtful
        ]
        if doubts:
            raise invalid_fields(doubts)
        lines = [body.items[place] for place in rows]
        received = [made_from(line, ReceivedGoods, units=line.units or 0) for line in lines]
        with named_by(in_rows("items", rows, {"expected_on": "units"})):
            return await receive_goods(tx, received, now)

    @table_page(
        _SHEET,
        "Count sheet",
        columns=_SHEET_COLUMNS,
        order=TableOrder({"place": str}, "place", lambda row, _: (row.location, row.id)),
        template="goods_in/count_sheet.html",
        file="count-sheet",
        cells={"sku": "sku", "counted": lambda _: "", "location": "location", "name": "name"},
        scope="stock:write",
    )
    async def show_sheet(self, tx: Transaction, wanted: CountSheet, at: RowsToRead) -> Sequence[Shelved]:
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
            facts=_said_of_count,
            asked=lambda _body, found: require_fitting(found),
            to=_SHEET,
            done=lambda found: f"The count is entered: {plural(len(found), 'product')} had another number.",
        )

    async def _show(self, call: Call, filled: Filled, counted: Sequence[Counted] | None) -> Response:
        seen = "" if counted is None else seen_of(_said_of_count(counted))
        return self.desk.show(call, "goods_in/count.html", form=filled, found=counted, seen=seen)


def _said_of_count(counted: Sequence[Counted]) -> list[Any]:
    return [[each.sku, each.expected, each.counted, each.allocated] for each in counted]
