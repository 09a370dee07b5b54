"""Books delivered units in, back-orders first; compares counts with the stock, and adjusts the stock to them.

Rows are always locked in the same order: the back-orders' lock, then deliveries by product, then stock by product.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.goods_in.queries import ProductDelivery, lock_deliveries, products_named, store_rests
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid, invalid_fields, named_by, require_text
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import LONGEST_REASON, shown_name
from tradecounter.orders.adjust_stock import MOST_UNITS, Adjustment, adjust_stock
from tradecounter.orders.create.quick_lines import BadLine, LineRules, numbered_quick_lines, refuse_lines
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.wire import LONGEST_SKU
from tradecounter.stock.queries.levels import locked_levels

Place = tuple[str, datetime]


class ReceivedGoods(Struct, frozen=True, kw_only=True):
    """Units of a delivery that have come."""

    sku: Annotated[str, Meta(min_length=1, max_length=LONGEST_SKU)]
    expected_on: Annotated[datetime, Meta(description="When it was expected; a product's `deliveries` say it.")]
    units: Annotated[int, Meta(ge=0, le=MOST_UNITS, description="Units that are there.")]
    incoming: (
        Annotated[int, Meta(ge=0, description="Units that were expected at the count; others are a conflict.")] | None
    ) = None
    ends: Annotated[bool, Meta(description="Whether the rest of the delivery is not expected any more.")] = False


class BookedIn(Struct, frozen=True):
    """Units of a product that came."""

    sku: str
    units: int
    expected: Annotated[int, Meta(description="Units that were expected.")]
    served: Annotated[int, Meta(description="Units that orders took which have waited.")]


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
    levels = await locked_levels(tx, {delivery.product_id for delivery in deliveries})
    before = {delivery.sku: levels[delivery.product_id].back_ordered for delivery in deliveries}
    after = dict(before)
    adjustments = [
        Adjustment(sku=sku, change=units[sku], reason=f"Goods in: {', '.join(reasons[sku])}"[:LONGEST_REASON])
        for sku in expected
        if units[sku]
    ]
    if adjustments:
        places = {f"items[{at}].change": f"items[{lines[each.sku]}].units" for at, each in enumerate(adjustments)}
        with named_by(lambda place: places.get(place, place)):
            after |= {each.sku: each.back_ordered for each in await adjust_stock(tx, adjustments, now)}
    return [BookedIn(sku, units[sku], expected[sku], before[sku] - after[sku]) for sku in expected]


async def _locked(tx: Transaction, received: Sequence[ReceivedGoods]) -> list[ProductDelivery]:
    """Return the delivery of each of the lines, locked. All that is wrong with the lines is one error."""
    places = [(key_form(goods.sku), goods.expected_on) for goods in received]
    found = await lock_deliveries(tx, set(places))
    errors, changed = [], []
    first: dict[Place, int] = {}
    for number, (goods, place) in enumerate(zip(received, places, strict=True)):
        field = f"items[{number}].expected_on"
        delivery = found.get(place)
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
        raise DomainError(Kind.CONFLICT, "; ".join(map(str, changed)), field_errors=changed)
    return [found[place] for place in places]


def _audit(tx: Transaction, goods: ReceivedGoods, delivery: ProductDelivery, rest: int, now: datetime) -> None:
    after = {"expected_on": goods.expected_on, "received": goods.units, "incoming": rest}
    audit(tx, "delivery.receive", f"product/{delivery.sku}", now, before={"incoming": delivery.incoming}, after=after)


MOST_COUNTED = 5_000  # products
_LARGE_UNITS, _LARGE_PART = 5, 4  # a large difference has at least 5 units, and a quarter of what is expected
_MOST_NAMED = 10  # in an error
_RULES = LineRules(
    least_units=0,
    most_units=MOST_UNITS,
    most_lines=MOST_COUNTED,
    too_many=f"is one too many: a count has at most {MOST_COUNTED:,} lines",
    without_units=None,
)


class Counted(Struct, frozen=True):
    """A product's units as counted, how many should have been there, and how many are allocated to orders."""

    sku: str
    expected: int
    counted: int
    allocated: int

    @property
    def difference(self) -> int:
        """The units that are there beyond what was expected; below 0, those that are missing."""
        return self.counted - self.expected

    @property
    def is_large(self) -> bool:
        """Whether the difference is more likely a slip than a loss: at least 5 units and a quarter of the shelf."""
        return abs(self.difference) >= max(_LARGE_UNITS, self.expected / _LARGE_PART)

    @property
    def fits(self) -> bool:
        """Whether the units that were counted are enough for the orders that they are allocated to."""
        return self.counted >= self.allocated


def read_count_lines(text: str) -> dict[str, int]:
    """Return the units of each SKU of lines such as `ACME-100, 12`. A line without a number is left out.

    Raises DomainError (invalid), which names the lines that cannot be read, or that name a product again.
    """
    lines, bad = numbered_quick_lines(text, _RULES)
    first: dict[str, int] = {}
    for line in lines:
        if (before := first.setdefault(key_form(line.sku), line.number)) != line.number:
            bad.append(BadLine(line.number, f"names {line.sku[:40]} again, after line {before}"))
    refuse_lines(bad)
    if not lines:
        raise invalid("lines", "has no line of a SKU and a number")
    return {line.sku: line.units for line in lines}


def counts_of(items: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the units of each SKU. Raises DomainError (invalid): a product is there twice."""
    first: dict[str, int] = {}
    for number, (sku, _) in enumerate(items):
        if first.setdefault(key_form(sku), number) != number:
            raise invalid(f"items[{number}].sku", f"{sku[:40]} is there twice")
    return dict(items)


async def compare_count(tx: Transaction, counts: dict[str, int]) -> list[Counted]:
    """Return the products whose number on hand differs from the count. Locks their stock until the transaction ends.

    The count is by SKU or EAN. Raises DomainError: not found, which names all that is unknown; invalid, for a product
    that is there by both.
    """
    found = await products_named(tx, list(counts))
    unknown = [shown_name(name) for name in counts if name not in found]
    if unknown:
        raise DomainError(Kind.NOT_FOUND, f"no product has the SKU or EAN {_named(unknown)}")
    skus = [sku for _, sku in found.values()]
    if len(set(skus)) < len(skus):
        [(twice, _)] = Counter(skus).most_common(1)
        raise DomainError(Kind.INVALID, f"{twice} is there twice, by its SKU and by its EAN")
    await lock_waiting_orders(tx)
    levels = await locked_levels(tx, [product_id for product_id, _ in found.values()])
    compared = [
        Counted(sku, levels[product_id].on_hand, counts[name], levels[product_id].allocated)
        for name, (product_id, sku) in found.items()
    ]
    return [each for each in compared if each.difference]


async def enter_count(tx: Transaction, differing: Sequence[Counted], reason: str, now: datetime) -> None:
    """Set the units on hand of the products that `compare_count` returned.

    Raises DomainError: invalid (the reason), conflict (fewer units than are allocated to orders), or as `adjust_stock`
    does.
    """
    require_text("reason", reason, LONGEST_REASON)
    require_fitting(differing)
    if differing:
        await adjust_stock(tx, [Adjustment(sku=each.sku, set=each.counted, reason=reason) for each in differing], now)


def require_fitting(differing: Sequence[Counted]) -> None:
    """Raise DomainError (conflict), which names the products, if fewer units were counted than are allocated."""
    short = [f"{each.sku} ({each.counted} of {each.allocated})" for each in differing if not each.fits]
    if short:
        raise DomainError(
            Kind.CONFLICT,
            f"fewer units were counted than are allocated to orders: {_named(short)}. "
            "Cancel or amend these orders first, or count again",
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"
