"""Stock levels and deliveries as the database holds them, and the statements that read what is new."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tradecounter.db.arrays import ArrayStatement, fetch_array
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class StockRows:
    """Products' stock: units for sale, and units of earlier orders that wait for a delivery."""

    product_ids: NDArray[np.int64]
    available: NDArray[np.int64]
    back_ordered: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DeliveryRows:
    """Units of products on expected deliveries, in order of date; `moments` are microseconds since 1970, UTC."""

    product_ids: NDArray[np.int64]
    incoming: NDArray[np.int32]
    moments: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StockChanges:
    """The levels written since a position, and the position from which to read next."""

    levels: StockRows
    position: int


_NEXT_POSITION = Statement("select pg_snapshot_xmin(pg_current_snapshot())::text::bigint")

_CHANGED_LEVELS = ArrayStatement(
    "select product_id, available, back_ordered from stock_level where changed_by >= :position::text::xid8",
    {"product_id": "int8", "available": "int8", "back_ordered": "int8"},
)


async def read_stock_changes(tx: Transaction, position: int) -> StockChanges:
    """Return levels written by transactions from `position` on (0: all).

    The next position is the oldest transaction still under way, so that nothing committed late is missed; a level
    may be returned again.
    """
    next_position = await tx.fetch_value(_NEXT_POSITION)
    rows = await fetch_array(tx, _CHANGED_LEVELS, position=str(position))
    columns = (rows[name].astype(np.int64) for name in ("product_id", "available", "back_ordered"))
    return StockChanges(StockRows(*columns), next_position)


_DELIVERIES = ArrayStatement(
    """
    select product_id, incoming, (extract(epoch from expected_on) * 1000000)::bigint as moment
    from incoming_stock where expected_on between '2000-01-01' and '9999-01-01'
    """,
    {"product_id": "int8", "incoming": "int4", "moment": "int8"},
    order_by="moment, product_id",
)


async def read_deliveries(tx: Transaction) -> DeliveryRows:
    """Return all incoming deliveries but for those at a time that no import would have written."""
    rows = await fetch_array(tx, _DELIVERIES)
    return DeliveryRows(
        rows["product_id"].astype(np.int64), rows["incoming"].astype(np.int32), rows["moment"].astype(np.int64)
    )
