"""The stock of products; and allocation: promising stock to orders (specification, stock)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tradecounter.db.arrays import ArrayStatement, fetch_array
from tradecounter.db.changes import bump
from tradecounter.db.pipeline import Pipeline, Result
from tradecounter.db.seen import Seen
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.stock.rules import Delivery


class StockRows(Struct, frozen=True):
    """Products' stock: units for sale, units back-ordered, and the transaction that wrote them last."""

    product_ids: NDArray[np.int64]
    available: NDArray[np.int64]
    back_ordered: NDArray[np.int64]
    changed_by: NDArray[np.int64]


class DeliveryRows(Struct, frozen=True):
    """Units on expected deliveries, in order of date; `moments` are microseconds since 1970 in UTC."""

    product_ids: NDArray[np.int64]
    incoming: NDArray[np.int32]
    moments: NDArray[np.int64]


class StockChanges(Struct, frozen=True):
    """The levels written since a position, and the transactions whose levels they are, for the next read."""

    levels: StockRows
    seen: Seen


_SEEN = Statement("select pg_current_snapshot()::text")

_CHANGED_LEVELS = ArrayStatement(
    """
    select product_id, available, back_ordered, changed_by::text::bigint as changed_by
    from stock_level where changed_by >= :position::text::xid8
    """,
    {"product_id": "int8", "available": "int8", "back_ordered": "int8", "changed_by": "int8"},
)


async def read_stock_changes(tx: Transaction, position: int) -> StockChanges:
    """Return the levels written by transaction `position` and later; all levels if `position` is 0.

    The next position is the oldest running transaction. So no late commit is missed, but a level may be returned twice.
    """
    seen = Seen.parse(await tx.fetch_value(_SEEN))
    rows = await fetch_array(tx, _CHANGED_LEVELS, position=str(position))
    columns = (rows[name].astype(np.int64) for name in ("product_id", "available", "back_ordered", "changed_by"))
    return StockChanges(StockRows(*columns), seen)


_DELIVERIES = ArrayStatement(
    """
    select product_id, incoming, (extract(epoch from expected_on) * 1000000)::bigint as moment
    from incoming_stock where expected_on between '2000-01-01' and '9999-01-01'
    """,
    {"product_id": "int8", "incoming": "int4", "moment": "int8"},
    order_by="moment, product_id",
)


async def read_deliveries(tx: Transaction) -> DeliveryRows:
    """Return all deliveries, except rows with times that no import writes."""
    rows = await fetch_array(tx, _DELIVERIES)
    return DeliveryRows(
        rows["product_id"].astype(np.int64), rows["incoming"].astype(np.int32), rows["moment"].astype(np.int64)
    )


_STORE_DELIVERY = Statement("""
    insert into incoming_stock (product_id, expected_on, incoming) values (:product_id, :expected_on, :units)
    on conflict (product_id, expected_on) do update set incoming = excluded.incoming
""")


async def store_delivery(tx: Transaction, product_id: int, units: int, expected_on: datetime) -> None:
    """Store an expected delivery; replaces the product's delivery at the same time."""
    await tx.execute(_STORE_DELIVERY, product_id=product_id, expected_on=expected_on, units=units)
    await bump(tx, "deliveries")


_SET_AVAILABLE = Statement("""
    update stock_level s set available = n.available, changed_by = pg_current_xact_id()
    from unnest(:product_ids::bigint[], :available::bigint[]) as n (product_id, available)
    where s.product_id = n.product_id and s.available <> n.available
""")


async def set_available(tx: Transaction, available: Mapping[int, int]) -> None:
    """Store the units for sale, by product id."""
    await tx.execute(_SET_AVAILABLE, product_ids=list(available), available=list(available.values()))


_SET_PLACES = Statement("""
    update stock_level s set location = n.location
    from unnest(:product_ids::bigint[], :places::text[]) as n (product_id, location)
    where s.product_id = n.product_id
""")


async def set_places(tx: Transaction, places: Mapping[int, str]) -> None:
    """Store where products are in the warehouse, by product id."""
    await tx.execute(_SET_PLACES, product_ids=list(places), places=list(places.values()))


class StockLevel(Struct, frozen=True):
    """A product's units: for sale, allocated to orders, and back-ordered; its place in the warehouse, if known."""

    available: int = 0
    allocated: int = 0
    back_ordered: int = 0
    location: str = ""

    @property
    def on_hand(self) -> int:
        """The units in the warehouse."""
        return self.available + self.allocated


_STOCK_LEVEL_OF = Statement(
    "select available, allocated, back_ordered, location from stock_level where product_id = :product_id", StockLevel
)


async def stock_level_of(tx: Transaction, product_id: int) -> StockLevel:
    """Return a product's stock level; zeros for a product that never had stock."""
    return await tx.find_row(_STOCK_LEVEL_OF, product_id=product_id) or StockLevel()


# An insert even where no row is missing: its lock on the table makes a stock import wait.
_MAKE_MISSING = Statement("""
    insert into stock_level (product_id) select * from unnest(:product_ids::bigint[]) as p (id) order by id
    on conflict do nothing
""")

_LOCK = Statement("""
    select product_id, available, allocated, back_ordered, location
    from stock_level where product_id = any(:product_ids::bigint[]) order by product_id for update
""")


async def lock_levels(tx: Transaction, product_ids: Iterable[int]) -> dict[int, StockLevel]:
    """Return the levels of products, locked in order of product until the transaction ends."""
    wanted = list(product_ids)
    async with tx.pipeline() as p:
        p.execute(_MAKE_MISSING, product_ids=wanted)
        levels = p.fetch(_LOCK, product_ids=wanted)
    return {product_id: StockLevel(*units) for product_id, *units in levels.rows}


_STOCK_LEVELS_OF = Statement("""
    select p.sku_key, s.available, s.allocated, s.back_ordered, s.location
    from stock_level s join product p on p.id = s.product_id where p.sku_key = any(:sku_keys)
""")


async def stock_levels_of(tx: Transaction, sku_keys: Sequence[str]) -> dict[str, StockLevel]:
    """Return the stock levels of products by the keys of their SKUs; a product that never had stock is missing."""
    rows = await tx.fetch_all(_STOCK_LEVELS_OF, sku_keys=list(sku_keys))
    return {sku_key: StockLevel(*units) for sku_key, *units in rows}


class ShelfLabel(Struct, frozen=True):
    """Where a product is in the warehouse, if known, and the EAN on it, if any."""

    location: str = ""
    ean: str | None = None


_SHELF_LABELS_OF = Statement("""
    select p.id, coalesce(s.location, ''), p.ean from product p left join stock_level s on s.product_id = p.id
    where p.id = any(:product_ids::bigint[])
""")


async def shelf_labels_of(tx: Transaction, product_ids: Sequence[int]) -> dict[int, ShelfLabel]:
    """Return where products are in the warehouse, and what is printed on them, by product id."""
    rows = await tx.fetch_all(_SHELF_LABELS_OF, product_ids=list(product_ids))
    return {product_id: ShelfLabel(*values) for product_id, *values in rows}


async def deliveries_of(tx: Transaction, product_id: int) -> list[Delivery]:
    """Return a product's expected deliveries in order of date."""
    return (await deliveries_of_products(tx, [product_id])).get(product_id, [])


_DELIVERIES_OF_PRODUCTS = Statement("""
    select product_id, incoming, expected_on from incoming_stock
    where product_id = any(:product_ids::bigint[]) order by product_id, expected_on
""")


async def deliveries_of_products(tx: Transaction, product_ids: Sequence[int]) -> dict[int, list[Delivery]]:
    """Return the expected deliveries of products in order of date, by product id; one without any is missing."""
    deliveries: dict[int, list[Delivery]] = {}
    for product_id, *delivery in await tx.fetch_all(_DELIVERIES_OF_PRODUCTS, product_ids=list(product_ids)):
        deliveries.setdefault(product_id, []).append(Delivery(*delivery))
    return deliveries


class BackOrder(Struct, frozen=True):
    """Units of a product that a confirmed order waits for."""

    order_reference: str
    customer_id: int
    quantity: int
    confirmed_at: datetime


_BACK_ORDERS_OF = Statement(
    """
    select o.order_reference, o.customer_id, sum(l.back_ordered)::integer as quantity, o.confirmed_at
    from order_line l join orders o on o.id = l.order_id
    where l.product_id = :product_id and l.back_ordered > 0
    group by o.id order by o.number
    """,
    BackOrder,
)


async def back_orders_of(tx: Transaction, product_id: int) -> list[BackOrder]:
    """Return the orders that wait for a product, next served first."""
    return await tx.fetch_all(_BACK_ORDERS_OF, product_id=product_id)


class Allocation(Struct, frozen=True):
    """The units of a product that are allocated; the rest is back-ordered after `earlier` units.

    `coming` is a JSON list of the expected deliveries, or None if nothing is back-ordered or expected.
    """

    product_id: int
    taken: int
    earlier: int
    coming: str | None

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """The deliveries that may cover the rest, in order of date."""
        return () if self.coming is None else _deliveries.decode(self.coming)


_deliveries = msgspec.json.Decoder(list[Delivery])


_TO_ALLOCATE = Statement(
    """
    select product_id, least(quantity, available) as taken, back_ordered as earlier,
           case when quantity > available then (
               select jsonb_agg(jsonb_build_object('incoming', i.incoming, 'expected_on', i.expected_on)
                                order by i.expected_on)::text
               from incoming_stock i where i.product_id = s.product_id
           ) end as coming
    from stock_level s join unnest(:product_ids::bigint[], :quantities::bigint[]) as w (product_id, quantity)
        using (product_id)
    """,
    Allocation,
)

# Units for sale become allocated ones, and others are back-ordered; negative units do the reverse.
_MOVE = Statement(
    """
    update stock_level s
    set available = s.available - m.allocated, allocated = s.allocated + m.allocated,
        back_ordered = s.back_ordered + m.back_ordered, changed_by = pg_current_xact_id()
    from unnest(:product_ids::bigint[], :allocated::bigint[], :back_ordered::bigint[])
         as m (product_id, allocated, back_ordered)
    where s.product_id = m.product_id and (m.allocated, m.back_ordered) <> (0, 0)
    """
)


def pipe_lock_levels(p: Pipeline, wanted: Mapping[int, int]) -> Result[Allocation]:
    """Lock stock levels in order of product until the transaction ends; fetch the units that `allocate` can take.

    `wanted` is units by product id.
    """
    product_ids = list(wanted)
    p.execute(_MAKE_MISSING, product_ids=product_ids)
    p.execute(_LOCK, product_ids=product_ids)
    # A separate statement: while _LOCK waits, deliveries may be booked in, which its snapshot would still show.
    return p.fetch(_TO_ALLOCATE, product_ids=product_ids, quantities=list(wanted.values()))


def allocate(tx: Transaction, wanted: Mapping[int, int], allocations: Sequence[Allocation]) -> None:
    """Allocate the units that are in stock; back-order the rest."""
    tx.queue(
        _MOVE,
        product_ids=[a.product_id for a in allocations],
        allocated=[a.taken for a in allocations],
        back_ordered=[wanted[a.product_id] - a.taken for a in allocations],
    )


async def move_served_units(tx: Transaction, units: Mapping[int, int]) -> None:
    """Move units, by product id, from available and back-ordered to allocated; the caller has locked the levels."""
    served = list(units.values())
    await tx.execute(_MOVE, product_ids=list(units), allocated=served, back_ordered=[-each for each in served])


async def release(tx: Transaction, allocated: Mapping[int, int], back_ordered: Mapping[int, int]) -> None:
    """Release an order's units: allocated units are for sale again, back-ordered units are dropped.

    Both arguments are units by product id, for the same products; negative units are added to the orders' units. The
    levels stay locked until the transaction ends.
    """
    await lock_levels(tx, allocated)
    await tx.execute(
        _MOVE,
        product_ids=list(allocated),
        allocated=[-units for units in allocated.values()],
        back_ordered=[-back_ordered[product_id] for product_id in allocated],
    )


_RESTOCK = Statement("""
    update stock_level s set available = s.available + u.units, changed_by = pg_current_xact_id()
    from unnest(:product_ids::bigint[], :units::bigint[]) as u (product_id, units)
    where s.product_id = u.product_id and u.units <> 0
""")


async def restock(tx: Transaction, units: Mapping[int, int]) -> None:
    """Make returned units, by product id, available; the caller serves back-orders with them."""
    await tx.execute(_LOCK, product_ids=list(units))
    await tx.execute(_RESTOCK, product_ids=list(units), units=list(units.values()))


_HAND_OVER = Statement("""
    update stock_level s set allocated = s.allocated - u.units
    from unnest(:product_ids::bigint[], :units::bigint[]) as u (product_id, units)
    where s.product_id = u.product_id
""")


async def hand_over(tx: Transaction, units: Mapping[int, int]) -> None:
    """Subtract dispatched units, by product id, from the allocated units; negative ones are allocated again."""
    await tx.execute(_LOCK, product_ids=list(units))
    await tx.execute(_HAND_OVER, product_ids=list(units), units=list(units.values()))
