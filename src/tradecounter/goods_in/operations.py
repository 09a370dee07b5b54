"""`/api/goods-in` and `/api/stock/count`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.goods_in.count_stock import MOST_COUNTED, compare_count, counts_of, enter_count
from tradecounter.goods_in.receive_goods import BookedIn, ReceivedGoods, receive_goods
from tradecounter.kit.wire import made_from
from tradecounter.orders.adjust_stock import MOST_ON_HAND
from tradecounter.orders.wire import LONGEST_SKU

_MOST_ITEMS = 500


class GoodsReceipt(Struct):
    """Deliveries that have come."""

    items: Annotated[list[ReceivedGoods], Meta(min_length=1, max_length=_MOST_ITEMS)]


class BookedGoods(Struct):
    """What was booked in, by product."""

    items: list[BookedIn]


class CountedUnits(Struct):
    """A product's units on the shelf, also those that are allocated to orders."""

    sku: Annotated[str, Meta(min_length=1, max_length=LONGEST_SKU)]
    counted: Annotated[int, Meta(ge=0, le=MOST_ON_HAND)]


class StockCount(Struct):
    """Products that were counted."""

    items: Annotated[list[CountedUnits], Meta(min_length=1, max_length=MOST_COUNTED)]
    reason: Annotated[str, Meta(description="The audit log shows it.")] = "Count"


class CountedDifference(Struct):
    """A product whose number was another than expected."""

    sku: str
    expected: int
    counted: int
    difference: Annotated[int, Meta(description="What is there beyond what was expected; negative: what is missing.")]


class CountDifferences(Struct):
    """The products whose number was another than expected."""

    items: list[CountedDifference]


_AT = datetime(2026, 7, 16, 23, tzinfo=UTC)
_RECEIVED = ReceivedGoods(sku="CV-320P", expected_on=_AT, units=48, incoming=50)
_DESCRIBED: Mapping[type, Described] = {
    GoodsReceipt: Described("", GoodsReceipt([_RECEIVED])),
    BookedGoods: Described("What was booked in.", BookedGoods([BookedIn("CV-320P", 48, 50, 6)])),
    StockCount: Described("", StockCount([CountedUnits("CV-320P", 118)], "Year end")),
    CountDifferences: Described("The differences.", CountDifferences([CountedDifference("CV-320P", 120, 118, -2)])),
}
_STOCK = Subject(tag="Products", read="catalogue:read", write="stock:write", described=_DESCRIBED)


class GoodsInOperations(Struct, frozen=True):
    """The endpoints of goods that come in, and of counts."""

    desk: Desk

    @_STOCK.changes("POST", "/api/goods-in")
    async def receive_goods(self, tx: Transaction, now: datetime, body: GoodsReceipt) -> BookedGoods:
        """Book delivered units in.

        All items are booked, or none. New units go to waiting orders first. What is missing of a delivery stays
        expected, unless it `ends`.
        """
        return BookedGoods(await receive_goods(tx, body.items, now))

    @_STOCK.changes("POST", "/api/stock/count", dry_run=True)
    async def count_stock(self, tx: Transaction, now: datetime, body: StockCount) -> CountDifferences:
        """Set what is on hand to what was counted.

        All products are set, or none; fewer units than are allocated to orders are a conflict. The response has the
        differences.
        """
        differing = await compare_count(tx, counts_of([(item.sku, item.counted) for item in body.items]))
        await enter_count(tx, differing, body.reason, now)
        return CountDifferences([made_from(each, CountedDifference) for each in differing])
