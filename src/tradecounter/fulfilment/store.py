"""Writing what becomes of orders: shipments, serial numbers, tracking events, packing videos, configurations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.rows import execute, fetch_value
from tradecounter.db.transaction import Transaction
from tradecounter.fulfilment.rules import Serial
from tradecounter.fulfilment.wire import OrderVideoResponse
from tradecounter.ordering.wire import TrackingEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class NewShipment:
    """A shipment that leaves; `units` counts by line id."""

    order_id: int
    shipping_method: int
    tracking_number: str | None
    contact_email: str | None
    contact_phone: str | None
    dispatched_at: datetime
    units: Mapping[int, int]
    serials: Sequence[Serial]


async def insert_shipment(tx: Transaction, shipment: NewShipment) -> int:
    """Note a shipment with its lines and serial numbers; return its id."""
    shipment_id: int = await fetch_value(
        tx,
        """
        insert into shipment (order_id, shipping_method, tracking_number, contact_email, contact_phone, dispatched_at)
        values (%s, %s, %s, %s, %s, %s) returning id
        """,
        [
            shipment.order_id,
            shipment.shipping_method,
            shipment.tracking_number,
            shipment.contact_email,
            shipment.contact_phone,
            shipment.dispatched_at,
        ],
    )
    await execute(
        tx,
        "insert into shipment_line (shipment_id, line_id, quantity) select %s, * from unnest(%s::bigint[], %s::int[])",
        [shipment_id, list(shipment.units), list(shipment.units.values())],
    )
    await execute(
        tx,
        """
        insert into serial_number (shipment_id, line_id, serial_number, mac_address, provisioning_sku)
        select %s, line_id, serial_number, mac_address, provisioning_sku
        from unnest(%s::bigint[], %s::text[], %s::text[], %s::text[]) with ordinality
             as s (line_id, serial_number, mac_address, provisioning_sku, place)
        order by place
        """,
        [
            shipment_id,
            [serial.item_id for serial in shipment.serials],
            [serial.serial_number for serial in shipment.serials],
            [serial.mac_address for serial in shipment.serials],
            [serial.provisioning_sku for serial in shipment.serials],
        ],
    )
    return shipment_id


async def insert_event(tx: Transaction, shipment_id: int, event: TrackingEvent) -> None:
    """Note where a shipment was."""
    await execute(
        tx,
        "insert into tracking_event (shipment_id, date, type, description, locality) values (%s, %s, %s, %s, %s)",
        [shipment_id, event.date, event.type, event.description, event.locality],
    )


async def put_video(tx: Transaction, order_id: int, video: OrderVideoResponse) -> None:
    """Note the addresses of an order's packing video, instead of those before."""
    await execute(
        tx,
        """
        insert into packing_video (order_id, video_file, streaming_playlist) values (%s, %s, %s)
        on conflict (order_id) do update
        set video_file = excluded.video_file, streaming_playlist = excluded.streaming_playlist
        """,
        [order_id, video.video_file, video.streaming_playlist],
    )


async def insert_configurations(tx: Transaction, line_id: int, sealed: Sequence[bytes], now: datetime) -> None:
    """Attach encrypted configurations to a line."""
    await execute(
        tx,
        """
        insert into configuration (line_id, data, created_at)
        select %s, c.data, %s from unnest(%s::bytea[]) with ordinality as c (data, place) order by c.place
        """,
        [line_id, now, list(sealed)],
    )


async def replace_sealed(tx: Transaction, sealed: Mapping[int, bytes]) -> None:
    """Replace encrypted configurations, by their ids."""
    await execute(
        tx,
        "update configuration c set data = r.data from unnest(%s::bigint[], %s::bytea[]) as r (id, data)"
        " where c.id = r.id",
        [list(sealed), list(sealed.values())],
    )
