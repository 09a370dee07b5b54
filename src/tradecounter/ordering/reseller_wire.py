"""What the reseller sees of orders beyond the customers' API; commands and the back office share it."""

from decimal import Decimal

from msgspec import Struct

from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.states import AnyOrder, NumberedOrder


class ItemUnits(Struct, frozen=True):
    """An item's units and its net unit cost; `quantity` is what is still wanted."""

    quantity: int
    quantity_allocated: int
    quantity_back_ordered: int
    quantity_dispatched: int
    quantity_cancelled: int
    quantity_returned: int
    unit_cost: Decimal


def item_units(order: AnyOrder, line: OrderLine) -> ItemUnits:
    """Return the units of an order's line; nothing is wanted of a cancelled order."""
    wanted = line.to_come + line.dispatched if isinstance(order, NumberedOrder) else line.quantity
    return ItemUnits(
        quantity=wanted,
        quantity_allocated=line.allocated,
        quantity_back_ordered=line.back_ordered,
        quantity_dispatched=line.dispatched,
        quantity_cancelled=line.cancelled,
        quantity_returned=line.returned,
        unit_cost=line.unit_cost,
    )
