"""Reading what became of orders."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
import structlog

from tradecounter.db.pipeline import array
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.fulfilment.provisioning_vault import ProvisioningVault
from tradecounter.fulfilment.wire import NewConfiguration, OrderVideoResponse
from tradecounter.ordering.fulfilled import Fulfilled, Shipped
from tradecounter.ordering.wire import OrderItemConfiguration, ProductSerialNumber, ProvisioningData, TrackingEvent

log = structlog.get_logger()

_MOST_LOGGED = 20


class UnreadableLog:
    """Logs items with configurations that no key decrypts, once: a program that polls would repeat it all day."""

    def __init__(self) -> None:
        self._logged = False

    def __call__(self, items: Sequence[int]) -> None:
        """Log items, by their ids, unless some have been logged before."""
        if self._logged:
            return
        self._logged = True
        log.error(
            "configurations cannot be decrypted and are shown without passwords: list the key that encrypted them in "
            "TRADECOUNTER_FORMER_SECRET_KEYS",
            items=items[:_MOST_LOGGED],
        )


@dataclass(frozen=True, slots=True)
class OrderFulfilment:
    """Tells what became of orders (`ordering/fulfilled.py`).

    `on_unreadable` is called with the ids of items that have configurations which no key decrypts.
    """

    vault: ProvisioningVault
    on_unreadable: Callable[[Sequence[int]], None] = field(default_factory=UnreadableLog)

    async def of_orders(self, tx: Transaction, order_ids: Sequence[int]) -> dict[int, Fulfilled]:
        """Return what became of every one of the orders, by internal id, in a fixed number of statements."""
        ids = array(order_ids)
        async with tx.pipeline() as p:
            shipped = p.fetch(_SHIPMENTS, order_ids=ids)
            numbered = p.fetch(_SERIAL_NUMBERS, order_ids=ids)
            configured = p.fetch(_CONFIGURATIONS, order_ids=ids)
        shipments, serial_numbers = _shipments(shipped.rows), _serial_numbers(numbered.rows)
        configurations = await _configurations(configured.rows, self.vault)
        unreadable = [item for made in configurations.values() for item, found in made.items() if _lacks_data(found)]
        if unreadable:
            self.on_unreadable(unreadable)
        return {
            order_id: Fulfilled(shipments[order_id], serial_numbers[order_id], configurations[order_id])
            for order_id in order_ids
        }


@dataclass(frozen=True, slots=True)
class _Shipment:
    id: int
    order_id: int
    shipping_method: int
    tracking_number: str | None
    contact_email: str | None
    contact_phone: str | None
    dispatched_at: datetime
    units: list[tuple[int, int]]
    events: list[dict[str, str]]


_SHIPMENTS = Statement(
    """
    select s.id, s.order_id, s.shipping_method, s.tracking_number, s.contact_email, s.contact_phone,
           s.dispatched_at,
           (select jsonb_agg(jsonb_build_array(l.line_id, l.quantity) order by l.line_id)
            from shipment_line l where l.shipment_id = s.id) as units,
           (select coalesce(jsonb_agg(to_jsonb(e) - 'id' - 'shipment_id' order by e.date collate "C", e.id), '[]')
            from tracking_event e where e.shipment_id = s.id) as events
    from shipment s where s.order_id = any(:order_ids::bigint[]) order by s.id
    """,
    _Shipment,
)


def _shipments(rows: Sequence[_Shipment]) -> defaultdict[int, list[Shipped]]:
    shipments: defaultdict[int, list[Shipped]] = defaultdict(list)
    for found in rows:
        shipments[found.order_id].append(
            Shipped(
                id=found.id,
                shipping_method=found.shipping_method,
                tracking_number=found.tracking_number,
                contact_email=found.contact_email,
                contact_phone=found.contact_phone,
                dispatched_at=found.dispatched_at,
                units=dict(found.units),
                events=msgspec.convert(found.events, list[TrackingEvent]),
            )
        )
    return shipments


@dataclass(frozen=True, slots=True)
class _SerialNumber:
    order_id: int
    line_id: int
    mac_address: str
    serial_number: str
    provisioning_sku: str


_SERIAL_NUMBERS = Statement(
    """
    select l.order_id, n.line_id, n.mac_address, n.serial_number, n.provisioning_sku
    from serial_number n join order_line l on l.id = n.line_id
    where l.order_id = any(:order_ids::bigint[]) order by n.id
    """,
    _SerialNumber,
)


def _serial_numbers(rows: Sequence[_SerialNumber]) -> defaultdict[int, defaultdict[int, list[ProductSerialNumber]]]:
    numbers: defaultdict[int, defaultdict[int, list[ProductSerialNumber]]] = defaultdict(lambda: defaultdict(list))
    for found in rows:
        number = ProductSerialNumber(found.mac_address, found.serial_number, found.provisioning_sku)
        numbers[found.order_id][found.line_id].append(number)
    return numbers


@dataclass(frozen=True, slots=True)
class _Configuration:
    order_id: int
    line_id: int
    sku: str
    data: bytes


_CONFIGURATIONS = Statement(
    """
    select l.order_id, c.line_id, l.sku, c.data
    from configuration c join order_line l on l.id = c.line_id
    where l.order_id = any(:order_ids::bigint[]) order by c.id
    """,
    _Configuration,
)


async def _configurations(
    found: Sequence[_Configuration], vault: ProvisioningVault
) -> defaultdict[int, defaultdict[int, list[OrderItemConfiguration]]]:
    made: defaultdict[int, defaultdict[int, list[OrderItemConfiguration]]] = defaultdict(lambda: defaultdict(list))
    if found:  # an order may have tens of thousands, which would keep other requests waiting
        for one, data in zip(found, await asyncio.to_thread(_unsealed, found, vault), strict=True):
            made[one.order_id][one.line_id].append(OrderItemConfiguration(data))
    return made


def _unsealed(found: Sequence[_Configuration], vault: ProvisioningVault) -> list[ProvisioningData]:
    """Return configurations decrypted; of those that no key decrypts, only the product."""
    return [_data(one.sku, vault.unseal(one.data)) for one in found]


def _lacks_data(configurations: Sequence[OrderItemConfiguration]) -> bool:
    return any(configuration.data.adsl_password is None for configuration in configurations)


def _data(sku: str, configuration: NewConfiguration | None) -> ProvisioningData:
    return ProvisioningData(product=sku, **({} if configuration is None else msgspec.structs.asdict(configuration)))


_FIND_VIDEO = Statement(
    "select video_file, streaming_playlist from packing_video where order_id = :order_id", OrderVideoResponse
)


async def find_video(tx: Transaction, order_id: int) -> OrderVideoResponse | None:
    """Return the addresses of an order's packing video, or None."""
    return await tx.fetch_one(_FIND_VIDEO, order_id=order_id)


_FIND_SHIPMENT = Statement("""
    select id from shipment where order_id = :order
      and (:tracking::text is null or tracking_number = :tracking) order by id desc limit 1
""")


async def find_shipment(tx: Transaction, order_id: int, tracking_number: str | None) -> int | None:
    """Return the id of an order's latest shipment, of those with a tracking number if one is named."""
    found: int | None = await tx.fetch_value(_FIND_SHIPMENT, order=order_id, tracking=tracking_number)
    return found


@dataclass(frozen=True, slots=True)
class Configurability:
    """Whether an item's product can be configured, and how many of its units are."""

    configurable: bool
    configured: int


_CONFIGURABILITY = Statement(
    """
    select p.configurable, (select count(*) from configuration c where c.line_id = l.id) as configured
    from order_line l join product p on p.id = l.product_id where l.id = :line_id
    """,
    Configurability,
)


async def configurability(tx: Transaction, line_id: int) -> Configurability | None:
    """Return how far a line is configured."""
    return await tx.fetch_one(_CONFIGURABILITY, line_id=line_id)


_COUNT_SEALED = Statement("select count(*) from configuration")


async def count_sealed(tx: Transaction) -> int:
    """Return how many configurations there are."""
    count: int = await tx.fetch_value(_COUNT_SEALED)
    return count


_SAMPLE_SEALED = Statement(
    "(select data from configuration order by id limit :most)"
    " union all (select data from configuration order by id desc limit :most)"
)


async def sample_sealed(tx: Transaction, most: int) -> list[bytes]:
    """Return the first and the last configurations, encrypted, at most `most` of each."""
    found = await tx.fetch_all(_SAMPLE_SEALED, most=most)
    return [data for (data,) in found]


_LOCK_SEALED = Statement(
    "select id, data from configuration where id > :after order by id limit :most for no key update"
)


async def lock_sealed(tx: Transaction, after: int, most: int) -> list[tuple[int, bytes]]:
    """Return the next configurations by id, encrypted; nobody else changes them until the transaction ends."""
    found = await tx.fetch_all(_LOCK_SEALED, after=after, most=most)
    return [(id_, data) for id_, data in found]
