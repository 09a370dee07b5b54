"""The lines of an order and their units: which can be named, what a cancellation takes, and the resulting status."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from tradecounter.kit.errors import ErrorCollector, invalid
from tradecounter.kit.money import NOTHING, percentage
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


class OrderLine(Struct, frozen=True, kw_only=True):
    """A line of an order; `cost_net` and `cost_tax` are the line's totals.

    `quantity` is what is still wanted: on a confirmed order, the sum of allocated, back-ordered and dispatched units.
    A cancelled order keeps the quantities that it had. `cancelled` units are no longer wanted, and `returned` units
    came back after their dispatch; the `unbilled` ones of them were not invoiced before, and cost nothing.
    `requested_unit_cost` is set once a quote is priced. A component's figures are the bundle's figures times the
    component's units per bundle.
    """

    id: int
    order_id: int
    product_id: int
    sku: str
    name: str
    quantity: int
    unit_cost: Decimal = NOTHING
    cost_net: Decimal = NOTHING
    cost_tax: Decimal = NOTHING
    allocated: int = 0
    back_ordered: int = 0
    dispatched: int = 0
    cancelled: int = 0
    returned: int = 0
    unbilled: int = 0
    requested_unit_cost: Decimal | None = None
    bundle_line_id: int | None = None
    components: tuple["OrderLine", ...] = ()

    def at_price(self, unit_cost: Decimal, tax_rate: Decimal) -> "OrderLine":
        """Return the line at a net unit cost, with VAT at a rate in per cent; it is rounded once per line."""
        cost_net = unit_cost * (self.quantity - self.unbilled)
        return replace(self, unit_cost=unit_cost, cost_net=cost_net, cost_tax=percentage(cost_net, tax_rate))

    @property
    def cost_at_request(self) -> Decimal:
        """The net unit cost at the creation of the order or quote."""
        return self.unit_cost if self.requested_unit_cost is None else self.requested_unit_cost

    @property
    def to_come(self) -> int:
        """The units that will be dispatched: 0 on an order that is cancelled or not confirmed."""
        return self.allocated + self.back_ordered

    @property
    def undispatched(self) -> int:
        """The units of a confirmed order that are not dispatched."""
        return self.quantity - self.dispatched


def total_costs(lines: Sequence[OrderLine]) -> tuple[Decimal, Decimal]:
    """Return the net cost and the tax of all lines."""
    return sum((line.cost_net for line in lines), NOTHING), sum((line.cost_tax for line in lines), NOTHING)


def with_components(order_lines: Sequence[OrderLine]) -> list[OrderLine]:
    """Return lines with the components nested in their bundles."""
    components: defaultdict[int, list[OrderLine]] = defaultdict(list)
    for line in order_lines:
        if line.bundle_line_id is not None:
            components[line.bundle_line_id].append(line)
    if not components:
        return list(order_lines)
    return [
        replace(line, components=tuple(_sharing(component, line) for component in components.get(line.id, ())))
        for line in order_lines
        if line.bundle_line_id is None
    ]


def units_per_bundle(component: OrderLine, bundle: OrderLine) -> int:
    """Return the units of a component that one bundle contains."""
    return (component.quantity + component.cancelled) // (bundle.quantity + bundle.cancelled)


def _sharing(component: OrderLine, bundle: OrderLine) -> OrderLine:
    each = units_per_bundle(component, bundle)
    return replace(
        component,
        allocated=each * bundle.allocated,
        back_ordered=each * bundle.back_ordered,
        dispatched=each * bundle.dispatched,
        returned=each * bundle.returned,
    )


def with_allocated(line: OrderLine, units: int) -> OrderLine:
    """Return a line as its confirmation leaves it, with its components: the units without stock are back-ordered."""
    changed = replace(line, allocated=units, back_ordered=line.quantity - units)
    return replace(changed, components=tuple(_sharing(component, changed) for component in line.components))


def flat_lines(lines: Iterable[OrderLine]) -> Iterator[OrderLine]:
    """Yield lines, each followed by its components."""
    for line in lines:
        yield line
        yield from line.components


def flat_units(lines: Iterable[OrderLine], units: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the ids and the units of lines, by line id, and after each line those of its components."""
    for line in lines:
        if units.get(line.id):
            yield line.id, units[line.id]
            for component in line.components:
                yield component.id, units_per_bundle(component, line) * units[line.id]


def added_up(units: Iterable[tuple[int, int]]) -> Counter[int]:
    """Return the units of each product, from pairs of a product and units of it."""
    found: Counter[int] = Counter()
    for product, quantity in units:
        found[product] += quantity
    return found


def share_out(lines: Iterable[OrderLine], taken: Mapping[int, int]) -> dict[int, int]:
    """Return the allocated units of lines by line id, of units taken by product id; earlier lines get units first."""
    left, shares = dict(taken), {}
    for line in lines:
        shares[line.id] = share = min(line.quantity, left[line.product_id])
        left[line.product_id] -= share
    return shares


def products_of(lines: Iterable[OrderLine]) -> set[int]:
    """Return the product ids of lines and their components."""
    return {line.product_id for line in flat_lines(lines)}


ItemId = Annotated[int, Meta(ge=1, description="The line's id.")]
Units = Annotated[int, Meta(ge=1, le=MOST_UNITS)]


class NamedUnits(Struct):
    """Units of a line."""

    id: ItemId
    quantity: Units


class Purpose(Struct, frozen=True, kw_only=True):
    """The purpose of naming units: the verb, and the available units, also in words."""

    verb: str
    remaining: str = "left"
    most: Callable[[OrderLine], int]


def named_units(lines: Sequence[OrderLine], items: Sequence[NamedUnits], purpose: Purpose) -> dict[int, int]:
    """Return units by line id.

    Raises DomainError (invalid) as `named_lines` does, for wrong quantities, and without any item.
    """
    if not items:
        raise invalid("items", "must name at least one item")
    units: dict[int, int] = {}
    order_lines = named_lines(lines, [item.id for item in items], purpose)
    for number, (line, item) in enumerate(zip(order_lines, items, strict=True)):
        if not 1 <= item.quantity <= purpose.most(line):
            raise invalid(f"items[{number}].quantity", what_remains(line, purpose))
        units[line.id] = item.quantity
    return units


def named_lines(lines: Sequence[OrderLine], item_ids: Sequence[int | None], purpose: Purpose) -> list[OrderLine]:
    """Return the lines of a request's items; those without an id, which name no line, are skipped.

    Raises DomainError (invalid) for unknown or repeated items, and for components of bundles.
    """
    by_id = {line.id: line for line in lines}
    bundles = {component.id: line for line in lines for component in line.components}
    known = ", ".join(map(str, by_id))  # once, however many items are wrong
    found: dict[int, OrderLine] = {}
    collector = ErrorCollector()
    for number, item_id in enumerate(item_ids):
        if item_id is None:
            continue
        with collector.collecting():
            place = f"items[{number}].id"
            if item_id in bundles:
                bundle = bundles[item_id]
                raise invalid(place, f"is a component of {bundle.sku}: {purpose.verb} item {bundle.id}")
            if item_id not in by_id:
                raise invalid(place, f"is not in this order; its items are {known}")
            if item_id in found:
                raise invalid(place, "is named twice: add up its quantities")
            found[item_id] = by_id[item_id]
    collector.check()
    return list(found.values())


def what_remains(line: OrderLine, purpose: Purpose) -> str:
    """Return in words how many units of a line can be named: the error for another number of them."""
    most = purpose.most(line)
    if most == 0:
        return f"{line.sku} has nothing left to {purpose.verb}"
    if most == 1:
        return f"{line.sku} has 1 unit {purpose.remaining}: its quantity must be 1"
    return f"{line.sku} has {most} units {purpose.remaining}: its quantity must be from 1 to {most}"


def with_quantity(line: OrderLine, quantity: int, unit_cost: Decimal, tax_rate: Decimal) -> OrderLine:
    """Return a line of a confirmed order with another quantity, and its components in proportion.

    Added units are back-ordered until stock serves them. Back-ordered units are removed first, allocated ones last.
    """
    added = quantity - line.quantity
    from_back_orders = min(-added, line.back_ordered)
    components = tuple(
        replace(component, quantity=units_per_bundle(component, line) * quantity) for component in line.components
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
        replace(component, cancelled=before.cancelled + before.quantity - component.quantity)
        for component, before in zip(left.components, line.components, strict=True)
    )
    return replace(left, cancelled=line.cancelled + units, components=components)


def status_of(lines: Sequence[OrderLine], invoiced: Mapping[int | None, int], due: Decimal) -> str:
    """Return the status of a confirmed order; `due` is what is due of its invoices, in pounds.

    `invoiced` has the invoiced units by line id, and the key None if the shipping is invoiced. Once there is an
    invoice, the status says so, even if units are left to dispatch (specification, status labels).
    """
    if invoiced:
        if any(line.undispatched or line.dispatched - line.unbilled > invoiced.get(line.id, 0) for line in lines):
            return PART_INVOICED
        return INVOICED if due else COMPLETED
    if all(line.undispatched == 0 for line in lines):
        return DISPATCHED
    if any(line.dispatched for line in lines):
        return PART_DISPATCHED
    return BACK_ORDERED if any(line.back_ordered for line in lines) else AWAITING_DISPATCH


def released_units(before: Sequence[OrderLine], after: Sequence[OrderLine]) -> tuple[Counter[int], Counter[int]]:
    """Return the allocated and the back-ordered units that a change of an order's lines releases, by product.

    Both have the same products. Units that the change adds are negative.
    """
    changes = [*((line, 1) for line in before), *((line, -1) for line in after)]
    allocated = added_up((line.product_id, sign * line.allocated) for line, sign in changes)
    back_ordered = added_up((line.product_id, sign * line.back_ordered) for line, sign in changes)
    return allocated, back_ordered
