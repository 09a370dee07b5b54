"""Books delivered units in: they serve back-orders first, and the delivery is done or waits for its rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.goods_in.queries import lock_delivery, store_rest
from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.local_time import uk_date
from tradecounter.orders.back_orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.stock.queries.stock_of_product import stock_levels_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedGoods:
    """Units of a delivery that are there. The rest comes later, or not at all with `ends`."""

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
    """Book units in. All lines are booked, or none.

    Raises DomainError (invalid): a delivery that is not expected, or one that is named twice; as `adjust_stock` does.
    """
    expected: dict[str, int] = {}
    adjustments = []
    for number, goods in enumerate(received):
        delivery = await lock_delivery(tx, key_form(goods.sku), goods.expected_on)
        if delivery is None:
            raise invalid(f"items[{number}].units", f"no delivery of {goods.sku} is expected then: reload the page")
        if delivery.sku in expected:
            raise invalid(f"items[{number}].units", f"{delivery.sku} is there twice: book one delivery at a time")
        expected[delivery.sku] = delivery.incoming
        await store_rest(tx, delivery, 0 if goods.ends else max(delivery.incoming - goods.units, 0))
        day = uk_date(goods.expected_on)
        reason = f"Goods in: {goods.units} of {delivery.incoming} expected on {day}"
        if goods.units:
            adjustments.append(Adjustment(sku=delivery.sku, change=goods.units, reason=reason))
    keys = [key_form(sku) for sku in expected]
    before = await stock_levels_of(tx, keys)
    if adjustments:
        await adjust_stock(tx, adjustments, now)
    after = await stock_levels_of(tx, keys)
    booked = []
    for (sku, units), goods, key in zip(expected.items(), received, keys, strict=True):
        waited = before[key].back_ordered if key in before else 0
        served = waited - (after[key].back_ordered if key in after else 0)
        booked.append(BookedIn(sku, goods.units, units, served))
    return booked
