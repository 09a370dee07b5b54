"""Adds what belongs to the fulfilment of an order: tracking events, its packing video, configurations of items."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import asdict

from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import is_second_hour, local_text
from tradecounter.kit.errors import (
    DomainError,
    ErrorCollector,
    FieldError,
    Kind,
    invalid,
    invalid_fields,
    not_found,
    require_text,
)
from tradecounter.kit.web_addresses import NotAWebAddressError, host_of
from tradecounter.kit.wire import made_from
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.fulfilled import CourierEvent
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, flat_lines
from tradecounter.orders.queries.orders import lines_of_order, lock_order
from tradecounter.orders.reseller_wire import Tracking
from tradecounter.orders.states import ConfirmedOrder, require_confirmed
from tradecounter.orders.wire import TrackingEvent
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.fulfilment import (
    configurability,
    find_shipment,
    insert_configurations,
    insert_event,
    put_video,
)
from tradecounter.shipments.wire import LONGEST_CREDENTIAL, ConfigurationRequest, OrderVideoResponse

_LONGEST_EVENT = 500


async def track_shipment(tx: Transaction, reference: str, tracking: Tracking, now: datetime) -> None:
    """Add a tracking event to an order's latest shipment, or to its latest with a tracking number.

    Raises DomainError: not found, conflict (no shipment yet), invalid.
    """
    try:
        at = tracking.date or now
        event = made_from(tracking, CourierEvent, date=local_text(at), in_second_hour=is_second_hour(at))
    except OverflowError as error:
        raise invalid("date", "must be between the years 1 and 9999 in UK time") from error
    collector = ErrorCollector()
    for field in ("type", "description", *(["locality"] if event.locality else [])):
        with collector.collecting():
            require_text(field, getattr(event, field), _LONGEST_EVENT)
    collector.check()
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    number = None if tracking.tracking_number is None else tracking.tracking_number.strip()
    shipment_id = await find_shipment(tx, order.id, number)
    if shipment_id is None:
        if number is not None:
            raise invalid("tracking_number", f"{reference} has no shipment whose tracking number is {number}")
        raise DomainError(Kind.CONFLICT, f"{reference} has no shipment")
    await insert_event(tx, shipment_id, event)
    seen = {"shipment_id": shipment_id, **asdict(made_from(event, TrackingEvent))}
    record_order_event(tx, "order.tracking_updated", order, now, **seen)
    audit_order(tx, "order.track", order, now, after=seen)


async def add_video(tx: Transaction, reference: str, video: OrderVideoResponse, now: datetime) -> None:
    """Store the URLs of a confirmed order's packing video; replaces earlier URLs.

    Raises DomainError: not found, conflict (not confirmed, or cancelled), invalid.
    """
    wrong: list[FieldError] = []
    for field, url in asdict(video).items():
        try:
            host_of(url)
        except NotAWebAddressError as error:
            wrong.append(FieldError(field, f"{error}, not {url[:100]!r}"))
    if wrong:
        raise invalid_fields(wrong)
    found = await lock_order(tx, (await fetch_order(tx, reference)).id)
    order = require_confirmed(found, now, "only confirmed orders have a packing video")
    await put_video(tx, order.id, video)
    audit_order(tx, "order.video", order, now, after=asdict(video))


async def configure_item(
    tx: Transaction,
    order_id: int,
    item_id: int,
    configurations: Sequence[ConfigurationRequest],
    vault: ProvisioningVault,
    now: datetime,
) -> OrderLine:
    """Add configurations to an item of an order, or to a component of a bundle; return the item.

    Locks the order, so concurrent requests cannot exceed the quantity. Raises DomainError: not found, invalid
    (cancelled, not configurable, more than the remaining units), unavailable (the secret key was replaced).
    """
    _check_configurations(configurations)
    order = await lock_order(tx, order_id)
    lines = flat_lines(await lines_of_order(tx, order.id))
    line = next((line for line in lines if line.id == item_id), None)
    if line is None:
        raise not_found("item", item_id)
    configurable, configured = await configurability(tx, line.id)
    if not isinstance(order, ConfirmedOrder):
        raise invalid("reference", "the order was cancelled: its items cannot be configured")
    if not configurable:
        raise invalid("orderItemId", f"{item_id} ({line.sku}) is not configurable")
    remaining = max(line.quantity - configured, 0)
    if len(configurations) > remaining:
        left = f"the item takes at most {remaining} more" if remaining else "all units of the item are configured"
        raise invalid("configurations", left)
    sealed = await vault.seal_all(tx, configurations)
    await insert_configurations(tx, line.id, sealed, now)
    after = {"item": line.id, "configurations": len(sealed)}
    audit_order(tx, "order.configure", order, now, after=after)
    return line


def _check_configurations(configurations: Sequence[ConfigurationRequest]) -> None:
    collector = ErrorCollector()
    for number, configuration in enumerate(configurations):
        for field, text in asdict(configuration).items():
            with collector.collecting():
                if text is not None:
                    require_text(f"configurations[{number}].{field}", text, LONGEST_CREDENTIAL)
    collector.check()
