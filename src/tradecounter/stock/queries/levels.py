"""Reads changed stock levels and all deliveries; stores a delivery or an adjustment."""

from collections.abc import Mapping
from datetime import datetime

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tradecounter.db.arrays import ArrayStatement, fetch_array
from tradecounter.db.changes import bump
from tradecounter.db.seen import Seen
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


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
