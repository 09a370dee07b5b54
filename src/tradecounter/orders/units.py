"""The units of confirmed orders: which may be named, what a cancellation takes, and the status that follows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from tradecounter.kit.errors import ErrorCollector, invalid
from tradecounter.orders.lines import OrderLine, units_per_bundle
from tradecounter.orders.rules import (
    AWAITING_DISPATCH,
    BACK_ORDERED,
    COMPLETED,
    DISPATCHED,
    INVOICED,
    PART_DISPATCHED,
    PART_INVOICED,
)
from tradecounter.orders.wire import MOST_UNITS

ItemId = Annotated[int, Meta(ge=1, description="The line's id.")]
Units = Annotated[int, Meta(ge=1, le=MOST_UNITS)]


class NamedUnits(Struct):
    """Units of a line."""

    id: ItemId
    quantity: Units


class Purpose(Struct, frozen=True):
    """What units are named for: the verb, what a component does, the units that can be named in words and in number."""

    verb: str
    goes: str
    remaining: str
    most: Callable[[OrderLine], int]


def named_units(lines: Sequence[OrderLine], named: Sequence[NamedUnits], purpose: Purpose) -> dict[int, int]:
    """Return units by line id.

    Raises DomainError (invalid) as `named_lines` does, for wrong quantities, and without any item.
    """
    if not named:
        raise invalid("items", "must name at least one item")
    units: dict[int, int] = {}
    found = named_lines(lines, [item.id for item in named], purpose)
    for number, (line, item) in enumerate(zip(found, named, strict=True)):
        if not 1 <= item.quantity <= purpose.most(line):
            raise invalid(f"items[{number}].quantity", f"{line.sku} {_what_remains(purpose, purpose.most(line))}")
        units[line.id] = item.quantity
    return units


def named_lines(lines: Sequence[OrderLine], item_ids: Sequence[int | None], purpose: Purpose) -> list[OrderLine]:
    """Return the lines with the ids of a request's items; an item without one, which adds a line, is passed over.

    Raises DomainError (invalid) for unknown or repeated items, and for components of bundles.
    """
    by_id = {line.id: line for line in lines}
    bundles = {component.id: line for line in lines for component in line.components}
    collector = ErrorCollector()
    for number, item_id in enumerate(item_ids):
        if item_id is None:
            continue
        with collector.collecting():
            place = f"items[{number}].id"
            if item_id in bundles:
                bundle = bundles[item_id]
                raise invalid(place, f"{purpose.goes}: {purpose.verb} item {bundle.id}")
            if item_id not in by_id:
                raise invalid(place, f"is not in this order; its items are {', '.join(map(str, by_id))}")
            if item_id in item_ids[:number]:
                raise invalid(place, "is named twice: add up its quantities")
    collector.check()
    return [by_id[item_id] for item_id in item_ids if item_id is not None]


def _what_remains(purpose: Purpose, most: int) -> str:
    if most == 0:
        return f"has nothing left to {purpose.verb}"
    if most == 1:
        return f"has 1 unit {purpose.remaining}: its quantity must be 1"
    return f"has {most} units {purpose.remaining}: its quantity must be from 1 to {most}"


def with_quantity(line: OrderLine, quantity: int, unit_cost: Decimal, tax_rate: Decimal) -> OrderLine:
    """Return a line of a confirmed order with other wanted units, and its components in proportion.

    Added units are back-ordered, until stock serves them. Removed units are back-ordered units first, allocated ones
    last.
    """
    added = quantity - line.quantity
    from_back_orders = min(-added, line.back_ordered)
    components = tuple(
        replace(part, quantity=units_per_bundle(part, line) * quantity) for part in line.components
    )  # their other figures follow from the bundle's when they are read
    return replace(
        line,
        quantity=quantity,
        back_ordered=line.back_ordered - from_back_orders,
        allocated=line.allocated - max(-added - from_back_orders, 0),
        components=components,
    ).at_price(unit_cost, tax_rate)


def without_units(line: OrderLine, units: int, tax_rate: Decimal) -> OrderLine:
    """Return a line of a confirmed order after a cancellation of undispatched units."""
    left = with_quantity(line, line.quantity - units, line.unit_cost, tax_rate)
    components = tuple(
        replace(part, cancelled=before.cancelled + before.quantity - part.quantity)
        for part, before in zip(left.components, line.components, strict=True)
    )
    return replace(left, cancelled=line.cancelled + units, components=components)


def status_of(lines: Sequence[OrderLine], invoiced: Mapping[int | None, int], due: Decimal) -> str:
    """Return the status of a confirmed order; `due` are the pounds that its invoices still ask for.

    `invoiced` has what its invoices contain: units by line id, and something for None if they contain the shipping. The
    status shows that there is an invoice, whatever is still to be dispatched (specification, status labels).
    """
    if invoiced:
        if any(line.left or line.dispatched - line.unbilled > invoiced.get(line.id, 0) for line in lines):
            return PART_INVOICED
        return INVOICED if due else COMPLETED
    if all(line.left == 0 for line in lines):
        return DISPATCHED
    if any(line.dispatched for line in lines):
        return PART_DISPATCHED
    return BACK_ORDERED if any(line.back_ordered for line in lines) else AWAITING_DISPATCH


def released_units(before: Sequence[OrderLine], after: Sequence[OrderLine]) -> tuple[Counter[int], Counter[int]]:
    """Return the allocated and the back-ordered units, by product, that a change of an order's lines releases.

    Both have the same products. Units that the change adds are negative.
    """
    allocated: Counter[int] = Counter()
    back_ordered: Counter[int] = Counter()
    for line in before:
        allocated[line.product_id] += line.allocated
        back_ordered[line.product_id] += line.back_ordered
    for line in after:
        allocated[line.product_id] -= line.allocated
        back_ordered[line.product_id] -= line.back_ordered
    return allocated, back_ordered
