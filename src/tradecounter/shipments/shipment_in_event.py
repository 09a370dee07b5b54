"""What events say of a shipment: the same as `shipping` of its order."""

from collections.abc import Sequence
from typing import Any

from tradecounter.db.transaction import Transaction
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.present import shipment_on_the_wire
from tradecounter.orders.states import NumberedOrder
from tradecounter.shipments.queries.reads import shipment_of

_TOLD = ("shipment_id", "method_id", "carrier", "tracking_number", "tracking_url", "dispatched_on", "items")


async def shipment_in_event(
    tx: Transaction, order: NumberedOrder, lines: Sequence[OrderLine], shipment_id: int
) -> dict[str, Any]:
    """Return a shipment as an event has it. Raises LookupError if the order has no such shipment."""
    shown = shipment_on_the_wire(order, lines, await shipment_of(tx, order.id, shipment_id))
    return {name: value for name in _TOLD if (value := getattr(shown, name)) is not None}
