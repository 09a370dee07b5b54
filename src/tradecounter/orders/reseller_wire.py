"""What the reseller sees of orders beyond the customers' API; commands and the back office share it."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import Amount
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.states import AnyOrder, NumberedOrder
from tradecounter.orders.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS, Reference, ShippingChoice

Reason = Annotated[str, Meta(max_length=LONGEST_REASON)]


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


class OverrideCredit(Struct, frozen=True):
    """Lets an order exceed the account's credit, for a reason; only finance may."""

    reason: Annotated[str, Meta(description="Why.")]


Sku = Annotated[str, Meta(min_length=1, max_length=LONGEST_SKU)]
Units = Annotated[int, Meta(ge=0, le=MOST_UNITS)]


class AmendedItem(Struct, frozen=True):
    """A changed line, by its id, or a new one, by its SKU."""

    id: Annotated[int | None, Meta(description="The id of a line of the order.")] = None
    sku: Annotated[Sku | None, Meta(description="The SKU of a product to add.")] = None
    quantity: Annotated[
        Units | None, Meta(description="The units that are wanted, dispatched ones included; 0 removes the line.")
    ] = None
    unit_cost: Annotated[
        Amount | None, Meta(description="The net selling price of a unit; by default the line's own, or today's.")
    ] = None


class AmendOrderRequest(Struct, frozen=True):
    """Changes of a confirmed order; what is not named stays."""

    items: Annotated[list[AmendedItem], Meta(max_length=MOST_ITEMS)] = []
    shipping_address: Annotated[Raw, Meta(description="A full address, or the `id` of a saved one.")] = Raw()
    shipping_method: ShippingChoice | None = None
    customer_reference: Reference | None = None
    reason: Reason = ""
    override_credit: OverrideCredit | None = None

    @property
    def changes_nothing(self) -> bool:
        """Whether the request names nothing to change."""
        named = (self.items, self.new_address, self.shipping_method, self.customer_reference)
        return all(value in (None, []) for value in named)

    @property
    def new_address(self) -> Raw | None:
        """The delivery address as JSON, or None when it stays."""
        return None if bytes(self.shipping_address) in {b"", b"null"} else self.shipping_address
