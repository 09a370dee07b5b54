"""Adds tracking events to shipments."""

import re
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, ErrorCollector, Kind, invalid, require_text
from tradecounter.kit.local_time import local_text
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.wire import TrackingEvent
from tradecounter.shipments.queries.reads import find_shipment
from tradecounter.shipments.queries.writes import insert_event

_LOCAL_DATE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?")
_LONGEST = 500


class NewTrackingEvent(Struct, frozen=True, kw_only=True):
    """A tracking event to add; `date` is a LocalDateTime, with or without seconds."""

    type: Annotated[str, Meta(description="The event's type, such as Collected.")]
    description: Annotated[str, Meta(description="A description of the event.")]
    locality: Annotated[str, Meta(description="The event's location.")] = ""
    date: Annotated[str | None, Meta(description="The event's UK time. Default: now.")] = None


async def track_shipment(
    tx: Transaction, reference: str, tracking_number: str | None, given: NewTrackingEvent, now: datetime
) -> None:
    """Add a tracking event to an order's latest shipment, or to its latest with a tracking number.

    Raises DomainError: not found, conflict (no such shipment), invalid.
    """
    event = TrackingEvent(
        date=local_text(now) if given.date is None else local_time("date", given.date),
        type=given.type,
        description=given.description,
        locality=given.locality or "",
    )
    collector = ErrorCollector()
    for field in ("type", "description", *(["locality"] if event.locality else [])):
        with collector.collecting():
            require_text(field, getattr(event, field), _LONGEST)
    collector.check()
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    number = None if tracking_number is None else tracking_number.strip()
    shipment_id = await find_shipment(tx, order.id, number)
    if shipment_id is None:
        which = "" if number is None else f" whose tracking number is {number}"
        raise DomainError(Kind.CONFLICT, f"{reference} has no shipment{which}")
    await insert_event(tx, shipment_id, event)
    seen = {"shipment_id": shipment_id, **asdict(event)}
    record_order_event(tx, "order.tracking_updated", order, now, **seen)
    audit_order(tx, "order.track", order, now, after=seen)


def local_time(field: str, text: str) -> str:
    """Return a UK time that may lack seconds as LocalDateTime. Raises DomainError (invalid)."""
    if _LOCAL_DATE_TIME.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            return moment.isoformat(timespec="seconds")
    raise invalid(field, f"{text!r} must be a UK time in the format YYYY-MM-DDTHH:MM[:SS], such as 2026-03-02T17:30")
