"""The fulfilment that responses about orders show. `shipments/`, a row above, reads it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field

from tradecounter.kit.clock import moment_of
from tradecounter.orders.shipping_options import find_option
from tradecounter.orders.states import OrderBase
from tradecounter.orders.wire import OrderItemConfiguration, ProductSerialNumber, TrackingEvent
from tradecounter.shipping.rules import tracking_link


class CourierEvent(TrackingEvent):
    """A tracking event; `in_second_hour` is whether its local time is the second of two equal ones."""

    in_second_hour: bool

    @property
    def at(self) -> datetime:
        """When it happened, in UTC."""
        return moment_of(self.date, latest=self.in_second_hour)


class Shipped(Struct, frozen=True, kw_only=True):
    """A shipment with its tracking events by date.

    `units` are by line id, without components of bundles; `serial_numbers` are by line id, with components. Without
    `carrier`, the provider of the shipping method carries it.
    """

    id: int
    shipping_method: int
    tracking_number: str | None
    carrier: str | None
    tracking_pattern: str | None
    contact_email: str | None
    contact_phone: str | None
    dispatched_at: datetime
    invoice: int | None
    units: Mapping[int, int]
    events: Sequence[CourierEvent]
    serial_numbers: Mapping[int, Sequence[ProductSerialNumber]] = field(default_factory=dict)

    @property
    def tracking_events(self) -> list[TrackingEvent]:
        """The events as responses show them."""
        return [TrackingEvent(each.date, each.type, each.description, each.locality) for each in self.events]

    @property
    def tracking_url(self) -> str | None:
        """The carrier's page about the parcel, if there is one."""
        return tracking_link(self.tracking_pattern, self.tracking_number)


def carrier_of(order: OrderBase, shipped: Shipped) -> str | None:
    """Return who carries a shipment of an order."""
    method = find_option(order.shipping_options, shipped.shipping_method)
    return shipped.carrier or (None if method is None else method.provider)


class Fulfilled(Struct, frozen=True):
    """One order's shipments, oldest first, and its serial numbers and configurations by line id."""

    shipments: Sequence[Shipped] = ()
    serial_numbers: Mapping[int, Sequence[ProductSerialNumber]] = field(default_factory=dict)
    configurations: Mapping[int, Sequence[OrderItemConfiguration]] = field(default_factory=dict)
