"""Books delivered units in. They serve back-orders first; what is missing stays expected unless the delivery ends."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.goods_in.queries import lock_delivery, store_rest
from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.back_orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.stock.queries.stock_of_product import StockLevel, stock_levels_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedGoods:
    """Units of a delivery that have come. With `ends`, the rest of it is not expected any more."""

    sku: str
    expected_on: datetime
    units: int
    ends: bool = False


@dataclass(frozen=True, slots=True)
class BookedIn:
    """What was booked in: `units` of `expected`, of which `served` are for orders that have waited."""

    sku: str
    units: int
    expected: int
    served: int


async def receive_goods(tx: Transaction, received: Sequence[ReceivedGoods], now: datetime) -> list[BookedIn]:
    """Book units in; return what was booked of each product. All lines are booked, or none.

    Raises DomainError (invalid): a delivery that is not expected, or one that is named twice; as `adjust_stock` does.
    """
    expected: Counter[str] = Counter()
    units: Counter[str] = Counter()
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    seen: set[tuple[str, datetime]] = set()
    # In one order, so that two people who book the same deliveries wait for each other.
    for number in sorted(range(len(received)), key=lambda place: _place_of(received[place])):
        goods = received[number]
        delivery = await lock_delivery(tx, key_form(goods.sku), goods.expected_on)
        if delivery is None:
            raise invalid(f"items[{number}].units", f"no delivery of {goods.sku} is expected then: reload the page")
        if _place_of(goods) in seen:
            raise invalid(f"items[{number}].units", f"the same delivery of {delivery.sku} is there twice")
        seen.add(_place_of(goods))
        await store_rest(tx, delivery, 0 if goods.ends else max(delivery.incoming - goods.units, 0))
        expected[delivery.sku] += delivery.incoming
        units[delivery.sku] += goods.units
        reasons[delivery.sku].append(f"{goods.units} of {delivery.incoming} expected on {uk_date(goods.expected_on)}")
    before = await _back_ordered(tx, expected)
    adjustments = [
        Adjustment(sku=sku, change=units[sku], reason=f"Goods in: {', '.join(reasons[sku])}"[:LONGEST_REASON])
        for sku in expected
        if units[sku]
    ]
    if adjustments:
        await adjust_stock(tx, adjustments, now)
    after = await _back_ordered(tx, expected)
    return [BookedIn(sku, units[sku], expected[sku], before[sku] - after[sku]) for sku in expected]


def _place_of(goods: ReceivedGoods) -> tuple[str, datetime]:
    return key_form(goods.sku), goods.expected_on


async def _back_ordered(tx: Transaction, skus: Collection[str]) -> dict[str, int]:
    levels = await stock_levels_of(tx, [key_form(sku) for sku in skus])
    return {sku: levels.get(key_form(sku), StockLevel()).back_ordered for sku in skus}
