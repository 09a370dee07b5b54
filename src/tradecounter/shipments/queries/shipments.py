"""Corrects one shipment of an order, and takes one back. The caller has locked the order."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind


class OneShipment(Struct, frozen=True):
    """A shipment with its units by line id; without `carrier`, the provider of its shipping method carries it."""

    id: int
    tracking_number: str | None
    carrier: str | None
    dispatched_at: datetime
    invoice: int | None
    units: Mapping[int, int]


def _one_shipment(units: list[tuple[int, int]], **columns: Any) -> OneShipment:
    return OneShipment(**columns, units=dict(units))


_SHIPMENT = Statement(
    """
    select s.id, s.tracking_number, s.carrier, s.dispatched_at, s.invoice,
           (select jsonb_agg(jsonb_build_array(l.line_id, l.quantity) order by l.line_id)
            from shipment_line l where l.shipment_id = s.id) as units
    from shipment s where s.order_id = :order_id and s.id = :shipment_id
    """,
    _one_shipment,
)
_TAKEN_BACK = Statement("select from taken_back_shipment where order_id = :order_id and id = :shipment_id")


async def fetch_shipment(tx: Transaction, order_id: int, order_name: str, shipment_id: int) -> OneShipment:
    """Return a shipment of an order. Raises DomainError: not found, conflict (it was taken back)."""
    found = await tx.fetch_one(_SHIPMENT, order_id=order_id, shipment_id=shipment_id)
    if found is not None:
        return found
    if await tx.fetch_all(_TAKEN_BACK, order_id=order_id, shipment_id=shipment_id):
        raise DomainError(Kind.CONFLICT, f"shipment {shipment_id} of {order_name} was taken back")
    raise DomainError(Kind.NOT_FOUND, f"{order_name} has no shipment {shipment_id}")


_CORRECT = Statement("update shipment set tracking_number = :tracking_number, carrier = :carrier where id = :id")


async def store_correction(tx: Transaction, shipment_id: int, tracking_number: str | None, carrier: str | None) -> None:
    """Replace a shipment's tracking number and its carrier."""
    await tx.execute(_CORRECT, id=shipment_id, tracking_number=tracking_number, carrier=carrier)


_TAKE_BACK = Statement(
    """
    insert into taken_back_shipment (id, order_id, tracking_number, dispatched_at, units, reason, taken_back_at)
    select id, order_id, tracking_number, dispatched_at, :units, :reason, :now from shipment where id = :id
    """
)
_DELETES = (
    Statement("delete from tracking_event where shipment_id = :id"),
    Statement("delete from serial_number where shipment_id = :id"),
    Statement("delete from shipment_line where shipment_id = :id"),
    Statement("delete from shipment where id = :id"),
)


async def move_to_taken_back(tx: Transaction, shipment: OneShipment, reason: str, now: datetime) -> None:
    """Move a shipment to those that were taken back; its tracking events are deleted, its serial numbers are free."""
    await tx.execute(_TAKE_BACK, id=shipment.id, units=json_of(shipment.units), reason=reason, now=now)
    for statement in _DELETES:
        await tx.execute(statement, id=shipment.id)


_DELETE_VIDEO = Statement("delete from packing_video where order_id = :order_id")


async def delete_video(tx: Transaction, order_id: int) -> None:
    """Delete the URLs of an order's packing video."""
    await tx.execute(_DELETE_VIDEO, order_id=order_id)
