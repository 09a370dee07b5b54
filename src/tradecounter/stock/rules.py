"""The rules of stock (specification, catalogue, stock)."""

from collections.abc import Sequence
from datetime import date, datetime

from msgspec import Struct

from tradecounter.kit.clock import uk_date

IN_STOCK = "In stock"
LOW_STOCK = "Low stock"
ON_ORDER = "On order"
OUT_OF_STOCK = "Out of stock"


class Delivery(Struct, frozen=True):
    """Units that a supplier is expected to deliver."""

    incoming: int
    expected_on: datetime


def is_late(delivery: Delivery, today: date) -> bool:
    """Return whether a delivery is overdue, so that nobody can count on it: its UK date has passed."""
    return uk_date(delivery.expected_on) < today


class Cover(Struct, frozen=True):
    """When an order's units are available; `known` is False if no expected delivery covers them."""

    known: bool
    last_delivery: datetime | None = None


FROM_STOCK = Cover(known=True)


def status(available: int, low_stock: int, *, delivery_shown: bool) -> str:
    """Return the label of a product's availability."""
    if available >= low_stock and available > 0:
        return IN_STOCK
    if available > 0:
        return LOW_STOCK
    return ON_ORDER if delivery_shown else OUT_OF_STOCK


def cover(quantity: int, available: int, back_ordered: int, deliveries: Sequence[Delivery], now: datetime) -> Cover:
    """Return when another `quantity` units are available.

    Uses units in stock first, then deliveries in order of date, after earlier back-orders. An overdue delivery, whose
    UK date has passed, covers nothing.
    """
    shortfall = quantity - available
    if shortfall <= 0:
        return FROM_STOCK
    last = covering(deliveries, back_ordered + shortfall, now)
    return Cover(known=False) if last is None else Cover(known=True, last_delivery=last.expected_on)


def covering(deliveries: Sequence[Delivery], missing: int, now: datetime) -> Delivery | None:
    """Return the delivery with which `missing` units have come, in order of date; None if too few are expected.

    An overdue delivery does not count.
    """
    today = uk_date(now)
    for delivery in deliveries:
        if is_late(delivery, today):
            continue
        missing -= delivery.incoming
        if missing <= 0:
            return delivery
    return None


def latest(covers: Sequence[Cover]) -> Cover:
    """Return the cover of several products together: when all are available."""
    if not all(c.known for c in covers):
        return Cover(known=False)
    dates = [c.last_delivery for c in covers if c.last_delivery is not None]
    return Cover(known=True, last_delivery=max(dates, default=None))
