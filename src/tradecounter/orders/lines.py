"""The lines of an order."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.kit.money import NOTHING, percentage


def line_tax(cost_net: Decimal, tax_rate: Decimal) -> Decimal:
    """Return the tax on a line's net cost, at a rate in per cent: it is rounded once per line."""
    return percentage(cost_net, tax_rate)


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
        """Return the line at a net unit cost, with tax at a rate in per cent."""
        cost_net = unit_cost * (self.quantity - self.unbilled)
        return replace(self, unit_cost=unit_cost, cost_net=cost_net, cost_tax=line_tax(cost_net, tax_rate))

    @property
    def cost_at_request(self) -> Decimal:
        """The net unit cost at the creation of the order or quote."""
        return self.unit_cost if self.requested_unit_cost is None else self.requested_unit_cost

    @property
    def to_come(self) -> int:
        """The units of a confirmed order that will be dispatched."""
        return self.allocated + self.back_ordered

    @property
    def left(self) -> int:
        """The undispatched units."""
        return self.quantity - self.dispatched


def total_costs(lines: Sequence[OrderLine]) -> tuple[Decimal, Decimal]:
    """Return the net cost and the tax of all lines."""
    return sum((line.cost_net for line in lines), NOTHING), sum((line.cost_tax for line in lines), NOTHING)


def with_components(found: Sequence[OrderLine]) -> list[OrderLine]:
    """Return lines with the components nested in their bundles."""
    components: defaultdict[int, list[OrderLine]] = defaultdict(list)
    for line in found:
        if line.bundle_line_id is not None:
            components[line.bundle_line_id].append(line)
    if not components:
        return list(found)
    return [
        replace(line, components=tuple(_sharing(part, line) for part in components.get(line.id, ())))
        for line in found
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


def with_parts(lines: Iterable[OrderLine]) -> Iterator[OrderLine]:
    """Yield lines, each followed by its components."""
    for line in lines:
        yield line
        yield from line.components


def units_with_parts(lines: Iterable[OrderLine], units: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the ids and the units of lines, by line id, and after each line those of its components."""
    for line in lines:
        if units.get(line.id):
            yield line.id, units[line.id]
            for component in line.components:
                yield component.id, units_per_bundle(component, line) * units[line.id]


def products_of(lines: Iterable[OrderLine]) -> set[int]:
    """Return the product ids of lines and their components."""
    return {part.product_id for part in with_parts(lines)}
