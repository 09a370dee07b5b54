"""Corrects the tracking number and the carrier of a shipment."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid, require_text
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import NumberedOrder
from tradecounter.shipments.queries.shipments import fetch_shipment, store_correction
from tradecounter.shipments.rules import LONGEST_CARRIER, LONGEST_TRACKING_NUMBER
from tradecounter.shipments.shipment_in_event import shipment_in_event


class ShipmentCorrection(Struct, frozen=True, omit_defaults=True):
    """What is right of a shipment; what is absent stays."""

    tracking_number: Annotated[str | None, Meta(description="The courier's number; null: it has none.")] | UnsetType = (
        UNSET
    )
    carrier: (
        Annotated[str | None, Meta(description="Who carries it; null: the provider of its shipping method.")]
        | UnsetType
    ) = UNSET


async def correct_shipment(
    tx: Transaction, reference: str, shipment_id: int, given: ShipmentCorrection, now: datetime
) -> None:
    """Replace the tracking number or the carrier of an order's shipment.

    Raises DomainError: not found, conflict (it was taken back), invalid.
    """
    if given.tracking_number is UNSET and given.carrier is UNSET:
        raise invalid("tracking_number", "send tracking_number, carrier or both")
    number = _text("tracking_number", given.tracking_number, LONGEST_TRACKING_NUMBER)
    carrier = _text("carrier", given.carrier, LONGEST_CARRIER)
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    shipment = await fetch_shipment(tx, order.id, order.name, shipment_id)
    if not isinstance(order, NumberedOrder):
        raise TypeError(f"shipment {shipment_id} is of {order.name}, which was never confirmed")
    before = {"tracking_number": shipment.tracking_number, "carrier": shipment.carrier}
    after = {
        "tracking_number": shipment.tracking_number if number is UNSET else number,
        "carrier": shipment.carrier if carrier is UNSET else carrier,
    }
    if after == before:
        return
    await store_correction(tx, shipment_id, **after)
    about = {"shipment_id": shipment_id}
    parcel = await shipment_in_event(tx, order, await lines_of_order(tx, order.id), shipment_id)
    record_order_event(tx, "order.tracking_updated", order, now, **about, **after, shipment=parcel)
    audit_order(tx, "shipment.correct", order, now, before=before, after={**about, **after})


def _text(field: str, value: str | UnsetType | None, longest: int) -> str | UnsetType | None:
    if not isinstance(value, str):
        return value
    value = value.strip()
    require_text(field, value, longest)
    return value
