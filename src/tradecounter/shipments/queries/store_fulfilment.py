"""Stores the fulfilment of orders, corrects a shipment and takes one back. The caller has locked the order."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import asdict

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.fulfilled import Shipped
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.wire import NotificationDetails, TrackingEvent
from tradecounter.shipments.wire import OrderVideoResponse, Serial

_INSERT_SHIPMENT = Statement("""
    insert into shipment (order_id, shipping_method, tracking_number, carrier, contact_email, contact_phone,
                          dispatched_at)
    values (:order_id, :shipping_method, :tracking_number, :carrier, :contact_email, :contact_phone, :dispatched_at)
    returning id
""")
_INSERT_SHIPMENT_LINES = Statement(
    "insert into shipment_line (shipment_id, line_id, quantity)"
    " select :shipment_id, * from unnest(:line_ids::bigint[], :quantities::int[])"
)
_INSERT_SERIAL_NUMBERS = Statement("""
    insert into serial_number (shipment_id, line_id, serial_number, mac_address, provisioning_sku)
    select :shipment_id, line_id, serial_number, mac_address, provisioning_sku
    from unnest(:line_ids::bigint[], :serial_numbers::text[], :mac_addresses::text[], :provisioning_skus::text[])
         with ordinality as s (line_id, serial_number, mac_address, provisioning_sku, place)
    order by place
""")


async def insert_shipment(
    tx: Transaction,
    order: ConfirmedOrder,
    units: Mapping[int, int],
    serials: Sequence[Serial],
    *,
    tracking_number: str | None,
    carrier: str | None,
    dispatched_at: datetime,
) -> int:
    """Store a shipment of an order, with its units by line id and its serial numbers; return its id."""
    contact = order.courier_notifications or NotificationDetails()
    shipment_id: int = await tx.fetch_value(
        _INSERT_SHIPMENT,
        order_id=order.id,
        shipping_method=order.shipping_method,
        tracking_number=tracking_number,
        carrier=carrier,
        contact_email=contact.email_address,
        contact_phone=contact.phone_number,
        dispatched_at=dispatched_at,
    )
    await tx.execute(
        _INSERT_SHIPMENT_LINES, shipment_id=shipment_id, line_ids=list(units), quantities=list(units.values())
    )
    await tx.execute(
        _INSERT_SERIAL_NUMBERS,
        shipment_id=shipment_id,
        line_ids=[serial.item_id for serial in serials],
        serial_numbers=[serial.serial_number for serial in serials],
        mac_addresses=[serial.mac_address for serial in serials],
        provisioning_skus=[serial.provisioning_sku for serial in serials],
    )
    return shipment_id


_INSERT_EVENT = Statement(
    "insert into tracking_event (shipment_id, date, type, description, locality)"
    " values (:shipment_id, :date, :type, :description, :locality)"
)


async def insert_event(tx: Transaction, shipment_id: int, event: TrackingEvent) -> None:
    """Store a tracking event of a shipment."""
    await tx.execute(_INSERT_EVENT, shipment_id=shipment_id, **asdict(event))


_PUT_VIDEO = Statement("""
    insert into packing_video (order_id, video_file, streaming_playlist)
    values (:order_id, :video_file, :streaming_playlist)
    on conflict (order_id) do update
    set video_file = excluded.video_file, streaming_playlist = excluded.streaming_playlist
""")


async def put_video(tx: Transaction, order_id: int, video: OrderVideoResponse) -> None:
    """Store the URLs of an order's packing video; replaces earlier URLs."""
    await tx.execute(_PUT_VIDEO, order_id=order_id, **asdict(video))


_INSERT_CONFIGURATIONS = Statement("""
    insert into configuration (line_id, data, created_at)
    select :line_id, c.data, :now from unnest(:sealed::bytea[]) with ordinality as c (data, place) order by c.place
""")


async def insert_configurations(tx: Transaction, line_id: int, sealed: Sequence[bytes], now: datetime) -> None:
    """Attach encrypted configurations to a line."""
    await tx.execute(_INSERT_CONFIGURATIONS, line_id=line_id, now=now, sealed=list(sealed))


_REPLACE_SEALED = Statement(
    "update configuration c set data = r.data from unnest(:ids::bigint[], :data::bytea[]) as r (id, data)"
    " where c.id = r.id"
)


async def replace_sealed(tx: Transaction, sealed: Mapping[int, bytes]) -> None:
    """Replace encrypted configurations, by their ids."""
    await tx.execute(_REPLACE_SEALED, ids=list(sealed), data=list(sealed.values()))


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


async def move_to_taken_back(tx: Transaction, shipment: Shipped, reason: str, now: datetime) -> None:
    """Move a shipment to those that were taken back; its tracking events are deleted, its serial numbers are free."""
    await tx.execute(_TAKE_BACK, id=shipment.id, units=json_of(shipment.units), reason=reason, now=now)
    for statement in _DELETES:
        await tx.execute(statement, id=shipment.id)


_DELETE_VIDEO = Statement("delete from packing_video where order_id = :order_id")


async def delete_video(tx: Transaction, order_id: int) -> None:
    """Delete the URLs of an order's packing video."""
    await tx.execute(_DELETE_VIDEO, order_id=order_id)
