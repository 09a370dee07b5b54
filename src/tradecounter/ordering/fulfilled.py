"""What became of orders after their confirmation, as far as showing an order needs it; fulfilment stands above."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tradecounter.db.transaction import Transaction
from tradecounter.ordering.wire import OrderItemConfiguration, ProductSerialNumber, TrackingEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """A shipment: what left together, and where it was seen since, in order of date.

    `units` counts by line id; a bundle's components leave with it and are not in there.
    """

    id: int
    shipping_method: int
    tracking_number: str | None
    contact_email: str | None
    contact_phone: str | None
    dispatched_at: datetime
    units: Mapping[int, int]
    events: Sequence[TrackingEvent]


@dataclass(frozen=True, slots=True)
class Fulfilled:
    """What became of one order: its shipments in order, serial numbers and configurations by line id."""

    shipments: Sequence[Shipped] = ()
    serial_numbers: Mapping[int, Sequence[ProductSerialNumber]] = field(default_factory=dict)
    configurations: Mapping[int, Sequence[OrderItemConfiguration]] = field(default_factory=dict)


class FulfilmentReader(Protocol):
    """Tells what became of orders."""

    async def of_orders(self, tx: Transaction, order_ids: Sequence[int]) -> dict[int, Fulfilled]:
        """Return what became of every one of the orders, by internal id, in a fixed number of statements."""
        ...
