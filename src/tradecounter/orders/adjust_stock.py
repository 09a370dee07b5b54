"""Adjusts stock to what is on hand; new units go to waiting orders first (specification, stock).

Locks are taken in the order of docs/architecture.md#locks.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import FieldError, conflicts, invalid, require_text
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import made_from
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.serve_back_orders import allocate_back_orders
from tradecounter.orders.wire import LONGEST_SKU
from tradecounter.products.queries.products import find_product_ids
from tradecounter.stock.queries.stock import StockLevel, lock_levels, set_available, set_places, stock_levels_of

MOST_ON_HAND = 1_000_000_000
LONGEST_PLACE = 50


class Adjustment(Struct, frozen=True, kw_only=True):
    """A product's new units on hand, by either `change` or `set`, its new place, or both."""

    sku: Annotated[str, Meta(min_length=1, max_length=LONGEST_SKU)]
    reason: Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON, description="The reason, for the audit log.")]
    change: (
        Annotated[
            int, Meta(ge=-MOST_ON_HAND, le=MOST_ON_HAND, description="Units to add; negative: units to take away.")
        ]
        | None
    ) = None
    set: Annotated[int, Meta(ge=0, le=MOST_ON_HAND, description="Units that were counted.")] | None = None
    location: (
        Annotated[str, Meta(max_length=LONGEST_PLACE, description="The new place in the warehouse; empty for none.")]
        | None
    ) = None

    @property
    def has_units(self) -> bool:
        """Whether the units on hand are adjusted."""
        return self.set is not None or self.change is not None

    @property
    def is_clear(self) -> bool:
        """Whether the adjustment has one number of units, or only a place."""
        return (self.set is None) != (self.change is None) if self.has_units else self.location is not None


class AdjustedStock(Struct, frozen=True):
    """A product's stock and its place after the adjustment."""

    sku: str
    on_hand: int
    available: int
    allocated: int
    back_ordered: int
    location: str = ""


async def adjust_stock(tx: Transaction, adjustments: Sequence[Adjustment], now: datetime) -> list[AdjustedStock]:
    """Adjust the stock of products, and allocate new units to waiting orders.

    Raises DomainError: invalid, conflict (fewer units than are allocated to orders). Errors name the fields
    of adjustments by their places in `items`.
    """
    wanted: dict[int, Adjustment] = {}
    places: dict[int, str] = {}
    for number, adjustment in enumerate(adjustments):
        _check(adjustment, f"items[{number}]")
    product_ids = await find_product_ids(tx, [adjustment.sku for adjustment in adjustments])
    for number, (adjustment, (product_id, sku)) in enumerate(zip(adjustments, product_ids, strict=True)):
        if product_id in wanted:
            raise invalid(f"items[{number}].sku", f"{sku} is named twice")
        wanted[product_id] = replace(adjustment, sku=sku)
        places[product_id] = f"items[{number}]"
    await lock_waiting_orders(tx)
    levels = await lock_levels(tx, wanted)
    available = {product: _available(wanted[product], level, places[product]) for product, level in levels.items()}
    await set_available(tx, available)
    places_now = {product: each.location for product, each in wanted.items() if each.location is not None}
    if places_now:
        await set_places(tx, places_now)
    if any(available[product] > level.available for product, level in levels.items()):
        await allocate_back_orders(tx)
    _audit(tx, wanted, levels, available, now)
    skus = {key_form(each.sku): each.sku for each in wanted.values()}
    adjusted = await stock_levels_of(tx, list(skus))  # with what back-orders took
    return [made_from(adjusted[key], AdjustedStock, sku=sku) for key, sku in skus.items()]


def _check(adjustment: Adjustment, place: str) -> None:
    if not adjustment.is_clear:
        raise invalid(place, f"send either change or set for {adjustment.sku}, or its location")
    require_text(f"{place}.reason", adjustment.reason, LONGEST_REASON)


def _available(wanted: Adjustment, level: StockLevel, place: str) -> int:
    on_hand = wanted.set if wanted.set is not None else level.on_hand + (wanted.change or 0)
    field = f"{place}.{'change' if wanted.set is None else 'set'}"
    if on_hand > MOST_ON_HAND:
        raise invalid(field, f"must leave at most {MOST_ON_HAND:,} units of {wanted.sku} on hand")
    if on_hand < level.allocated:
        allocated = f"{level.allocated} of {level.on_hand} units are allocated to orders"
        raise conflicts([FieldError(field, f"{wanted.sku}: {allocated}, so {on_hand} cannot be on hand")])
    return on_hand - level.allocated


def _audit(
    tx: Transaction,
    wanted: dict[int, Adjustment],
    levels: dict[int, StockLevel],
    available: dict[int, int],
    now: datetime,
) -> None:
    before: dict[str, int | str] = {}
    after: dict[str, int | str] = {}
    for product, level in levels.items():
        each = wanted[product]
        if each.has_units:
            before[each.sku], after[each.sku] = level.on_hand, available[product] + level.allocated
        if each.location is not None:
            name = "location" if len(wanted) == 1 else f"{each.sku} location"
            before[name], after[name] = level.location, each.location
    reasons = "; ".join(dict.fromkeys(adjustment.reason.strip() for adjustment in wanted.values()))
    subject = f"product/{next(iter(wanted.values())).sku}" if len(wanted) == 1 else "stock"
    audit(tx, "stock.adjust", subject, now, before=before, after={**after, "reason": reasons})
