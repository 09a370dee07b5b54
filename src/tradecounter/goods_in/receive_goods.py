"""Books delivered units in, back-orders first.

Locks are taken in the order of docs/architecture.md#locks.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.goods_in.queries import ProductDelivery, lock_deliveries, store_rests
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import FieldError, conflicts, invalid_fields, named_by
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import Moment
from tradecounter.orders.adjust_stock import MOST_ON_HAND, Adjustment, adjust_stock
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.wire import LONGEST_SKU
from tradecounter.stock.queries.stock import lock_levels

Place = tuple[str, datetime]


class ReceivedGoods(Struct, frozen=True, kw_only=True):
    """Units of a delivery that have come."""

    sku: Annotated[str, Meta(min_length=1, max_length=LONGEST_SKU)]
    expected_on: Annotated[Moment, Meta(description="When it was expected; a product's `deliveries` say it.")]
    units: Annotated[int, Meta(ge=0, le=MOST_ON_HAND, description="Units received.")]
    incoming: (
        Annotated[int, Meta(ge=0, description="Units that were expected at the count; others are a conflict.")] | None
    ) = None
    ends: Annotated[bool, Meta(description="Whether the rest of the delivery is not expected any more.")] = False


class BookedIn(Struct, frozen=True):
    """Units of a product that came."""

    sku: str
    units: int
    expected: Annotated[int, Meta(description="Units that were expected.")]
    served: Annotated[int, Meta(description="Units allocated to waiting orders.")]


async def receive_goods(tx: Transaction, received: Sequence[ReceivedGoods], now: datetime) -> list[BookedIn]:
    """Book units in; return what was booked of each product. All lines are booked, or none.

    Raises DomainError: invalid (a delivery that is not expected, or that is named twice), conflict (other units are
    expected than `incoming`), or as `adjust_stock` does.
    """
    await lock_waiting_orders(tx)
    deliveries = await _locked(tx, received)
    rests = {}
    expected: Counter[str] = Counter()
    units: Counter[str] = Counter()
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    lines: dict[str, int] = {}  # the first line of each product
    for number, (goods, delivery) in enumerate(zip(received, deliveries, strict=True)):
        lines.setdefault(delivery.sku, number)
        rests[delivery] = 0 if goods.ends else max(delivery.incoming - goods.units, 0)
        expected[delivery.sku] += delivery.incoming
        units[delivery.sku] += goods.units
        reasons[delivery.sku].append(f"{goods.units} of {delivery.incoming} expected on {uk_date(goods.expected_on)}")
        _audit(tx, goods, delivery, rests[delivery], now)
    await store_rests(tx, rests)
    # Locked, so that a confirmation changes nothing in between.
    levels = await lock_levels(tx, {delivery.product_id for delivery in deliveries})
    before = {delivery.sku: levels[delivery.product_id].back_ordered for delivery in deliveries}
    after = dict(before)
    adjustments = [
        Adjustment(sku=sku, change=units[sku], reason=f"Goods in: {', '.join(reasons[sku])}"[:LONGEST_REASON])
        for sku in expected
        if units[sku]
    ]
    if adjustments:
        places = {
            f"items[{at}].change": f"items[{lines[adjustment.sku]}].units" for at, adjustment in enumerate(adjustments)
        }
        with named_by(lambda place: places.get(place, place)):
            after |= {each.sku: each.back_ordered for each in await adjust_stock(tx, adjustments, now)}
    return [BookedIn(sku, units[sku], expected[sku], before[sku] - after[sku]) for sku in expected]


async def _locked(tx: Transaction, received: Sequence[ReceivedGoods]) -> list[ProductDelivery]:
    """Return the delivery of each of the lines, locked. All that is wrong with the lines is one error."""
    places = [(key_form(goods.sku), goods.expected_on) for goods in received]
    deliveries = await lock_deliveries(tx, set(places))
    errors, changed = [], []
    first: dict[Place, int] = {}
    for number, (goods, place) in enumerate(zip(received, places, strict=True)):
        field = f"items[{number}].expected_on"
        delivery = deliveries.get(place)
        if delivery is None:
            errors.append(FieldError(field, f"no delivery of {goods.sku} is expected then"))
        elif first.setdefault(place, number) != number:
            errors.append(FieldError(field, f"the same delivery of {delivery.sku} is there twice"))
        elif goods.incoming not in {None, delivery.incoming}:
            problem = f"{delivery.incoming} units are expected now, not {goods.incoming}: someone has booked some in"
            changed.append(FieldError(f"items[{number}].units", problem))
    if errors:
        raise invalid_fields(errors)
    if changed:
        raise conflicts(changed)
    return [deliveries[place] for place in places]


def _audit(tx: Transaction, goods: ReceivedGoods, delivery: ProductDelivery, rest: int, now: datetime) -> None:
    after = {"expected_on": goods.expected_on, "received": goods.units, "incoming": rest}
    audit(tx, "delivery.receive", f"product/{delivery.sku}", now, before={"incoming": delivery.incoming}, after=after)
