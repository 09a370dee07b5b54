"""Reads and stores the fulfilment of orders: shipments, configurations and packing videos.

Whoever stores some of it has locked the order.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
import structlog
from msgspec import Struct, field
from msgspec.structs import asdict, replace
from psycopg.sql import SQL

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.fulfilled import CourierEvent, Fulfilled, Shipped
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.wire import (
    NotificationDetails,
    OrderItemConfiguration,
    ProductSerialNumber,
    ProvisioningData,
)
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.wire import OrderVideoResponse, Serial
from tradecounter.shipping.queries import TRACKING_PATTERN

T = TypeVar("T")
log = structlog.get_logger()
_Numbered = tuple[int, int, int, ProductSerialNumber]
_MOST_LOGGED = 20


class UnreadableLog:
    """Logs items with configurations that no key decrypts, once per process, since polling clients read them often."""

    def __init__(self) -> None:
        self._logged = False

    def __call__(self, items: Sequence[int]) -> None:
        """Log the ids of items; later calls do nothing."""
        if self._logged:
            return
        self._logged = True
        log.error(
            "configurations cannot be decrypted and are shown without passwords: list the key that encrypted them in "
            "TRADECOUNTER_FORMER_SECRET_KEYS",
            items=items[:_MOST_LOGGED],
        )


class OrderFulfilment(Struct, frozen=True):
    """Reads the fulfilment of orders (`orders/fulfilled.py`).

    Calls `on_unreadable` with the ids of items whose configurations no key decrypts.
    """

    vault: ProvisioningVault
    on_unreadable: Callable[[Sequence[int]], None] = field(default_factory=UnreadableLog)

    async def of_orders(self, tx: Transaction, order_ids: Sequence[int]) -> dict[int, Fulfilled]:
        """Return the fulfilment of each order by internal id, with a fixed number of statements."""
        ids = list(order_ids)
        async with tx.pipeline() as p:
            shipped = p.fetch(_SHIPMENTS, order_ids=ids)
            numbered = p.fetch(_SERIAL_NUMBERS, order_ids=ids)
            configured = p.fetch(_CONFIGURATIONS, order_ids=ids)
        serial_numbers = _by_line((order, line, number) for order, _, line, number in numbered.rows)
        shipments = _by_order(shipped.rows, numbered.rows)
        # An order may have tens of thousands of configurations; decoding them would delay other requests.
        data = await asyncio.to_thread(_decrypted, configured.rows, self.vault) if configured.rows else []
        configurations = _by_line(
            (order, line, OrderItemConfiguration(found))
            for (order, line, *_), found in zip(configured.rows, data, strict=True)
        )
        lines = zip(configured.rows, data, strict=True)
        unreadable = [line for (_, line, *_), found in lines if found.adsl_password is None]
        if unreadable:
            self.on_unreadable(list(dict.fromkeys(unreadable)))
        return {
            order_id: Fulfilled(shipments[order_id], serial_numbers[order_id], configurations[order_id])
            for order_id in order_ids
        }


def _shipment(
    order_id: int, units: list[tuple[int, int]], events: list[dict[str, Any]], **columns: Any
) -> tuple[int, Shipped]:
    return order_id, Shipped(**columns, units=dict(units), events=msgspec.convert(events, list[CourierEvent]))


_SHIPMENTS = Statement(
    SQL(
        """
    select s.id, s.order_id, s.shipping_method, s.tracking_number, s.carrier, s.contact_email,
           s.contact_phone, s.dispatched_at, s.invoice, {} as tracking_pattern,
           (select jsonb_agg(jsonb_build_array(l.line_id, l.quantity) order by l.line_id)
            from shipment_line l where l.shipment_id = s.id) as units,
           (select coalesce(
                jsonb_agg(to_jsonb(e) - 'id' - 'shipment_id'
                          order by left(e.date, length('2026-10-25T01')) collate "C", e.in_second_hour,
                                   e.date collate "C", e.id),
                '[]')
            from tracking_event e where e.shipment_id = s.id) as events
    from shipment s where s.order_id = any(:order_ids::bigint[]) order by s.id
    """
    ).format(SQL(TRACKING_PATTERN)),
    _shipment,
)
_TAKEN_BACK = Statement("select from taken_back_shipment where order_id = :order_id and id = :shipment_id")


async def fetch_shipment(tx: Transaction, order_id: int, order_name: str, shipment_id: int) -> Shipped:
    """Return a shipment of an order, with its serial numbers.

    Raises DomainError: not found, conflict (it was taken back).
    """
    shipment = next((each for each in (await shipments_of(tx, [order_id]))[order_id] if each.id == shipment_id), None)
    if shipment is None:
        if await tx.fetch_all(_TAKEN_BACK, order_id=order_id, shipment_id=shipment_id):
            raise DomainError(Kind.CONFLICT, f"shipment {shipment_id} of {order_name} was taken back")
        raise DomainError(Kind.NOT_FOUND, f"{order_name} has no shipment {shipment_id}")
    return shipment


async def shipments_of(tx: Transaction, order_ids: Sequence[int]) -> defaultdict[int, list[Shipped]]:
    """Return the shipments of orders with their serial numbers, by the orders' ids, oldest first."""
    ids = list(order_ids)
    async with tx.pipeline() as p:
        shipped, numbered = p.fetch(_SHIPMENTS, order_ids=ids), p.fetch(_SERIAL_NUMBERS, order_ids=ids)
    return _by_order(shipped.rows, numbered.rows)


def _by_order(shipped: Iterable[tuple[int, Shipped]], numbered: Iterable[_Numbered]) -> defaultdict[int, list[Shipped]]:
    in_shipment = _by_line((shipment, line, number) for _, shipment, line, number in numbered)
    shipments: defaultdict[int, list[Shipped]] = defaultdict(list)
    for order_id, shipment in shipped:
        shipments[order_id].append(replace(shipment, serial_numbers=in_shipment[shipment.id]))
    return shipments


def _numbered(order_id: int, shipment_id: int, line_id: int, **columns: str) -> _Numbered:
    return order_id, shipment_id, line_id, ProductSerialNumber(**columns)


_SERIAL_NUMBERS = Statement(
    """
    select s.order_id, n.shipment_id, n.line_id, n.mac_address, n.serial_number, n.provisioning_sku
    from serial_number n join shipment s on s.id = n.shipment_id
    where s.order_id = any(:order_ids::bigint[]) order by n.id
    """,
    _numbered,
)


_CONFIGURATIONS = Statement(
    """
    select l.order_id, c.line_id, l.sku, c.data
    from configuration c join order_line l on l.id = c.line_id
    where l.order_id = any(:order_ids::bigint[]) order by c.id
    """
)


def _by_line(rows: Iterable[tuple[int, int, T]]) -> defaultdict[int, defaultdict[int, list[T]]]:
    values: defaultdict[int, defaultdict[int, list[T]]] = defaultdict(lambda: defaultdict(list))
    for order_id, line_id, value in rows:
        values[order_id][line_id].append(value)
    return values


def _decrypted(rows: Sequence[tuple[Any, ...]], vault: ProvisioningVault) -> list[ProvisioningData]:
    """Return configurations; without the key to decrypt one, only its product."""
    unsealed = ((sku, vault.unseal(data)) for _, _, sku, data in rows)
    return [ProvisioningData(product=sku, **({} if found is None else asdict(found))) for sku, found in unsealed]


_FIND_VIDEO = Statement(
    "select video_file, streaming_playlist from packing_video where order_id = :order_id", OrderVideoResponse
)


async def find_video(tx: Transaction, order_id: int) -> OrderVideoResponse | None:
    """Return the URLs of an order's packing video, or None."""
    return await tx.find_row(_FIND_VIDEO, order_id=order_id)


_FIND_SHIPMENT = Statement("""
    select id from shipment where order_id = :order
      and (:tracking::text is null or lower(tracking_number) = lower(:tracking)) order by id desc limit 1
""")


async def find_shipment(tx: Transaction, order_id: int, tracking_number: str | None) -> int | None:
    """Return the id of an order's latest shipment, or of its latest with a tracking number, in any case."""
    shipment_id: int | None = await tx.find_value(_FIND_SHIPMENT, order=order_id, tracking=tracking_number)
    return shipment_id


_CONFIGURABILITY = Statement(
    """
    select p.configurable, (select count(*) from configuration c where c.line_id = l.id) as configured
    from order_line l join product p on p.id = l.product_id where l.id = :line_id
    """
)


async def configurability(tx: Transaction, line_id: int) -> tuple[bool, int]:
    """Return whether a line's product is configurable, and the number of its configured units. Raises LookupError."""
    configurable, configured = await tx.fetch_row(_CONFIGURABILITY, line_id=line_id)
    return configurable, configured


_COUNT_SEALED = Statement("select count(*) from configuration")


async def count_sealed(tx: Transaction) -> int:
    """Return the number of configurations."""
    return int(await tx.fetch_value(_COUNT_SEALED))


_SAMPLE_SEALED = Statement(
    "(select data from configuration order by id limit :most)"
    " union all (select data from configuration order by id desc limit :most)"
)


async def sample_sealed(tx: Transaction, most: int) -> list[bytes]:
    """Return the `most` first and the `most` last configurations, encrypted."""
    rows = await tx.fetch_all(_SAMPLE_SEALED, most=most)
    return [data for (data,) in rows]


_LOCK_SEALED = Statement(
    "select id, data from configuration where id > :after order by id limit :most for no key update"
)


async def lock_sealed(tx: Transaction, after: int, most: int) -> list[tuple[int, bytes]]:
    """Return the next configurations by id, encrypted, and lock them until the transaction ends."""
    rows = await tx.fetch_all(_LOCK_SEALED, after=after, most=most)
    return [(id_, data) for id_, data in rows]


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
    "insert into tracking_event (shipment_id, date, in_second_hour, type, description, locality)"
    " values (:shipment_id, :date, :in_second_hour, :type, :description, :locality)"
)


async def insert_event(tx: Transaction, shipment_id: int, event: CourierEvent) -> None:
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
