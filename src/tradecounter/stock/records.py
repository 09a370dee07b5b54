"""Stock levels and deliveries as the database holds them, and the statements that read what is new."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.rows import fetch_all, fetch_value
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class StockRecord:
    """A product's stock: units for sale, and units of earlier orders that wait for a delivery."""

    product_id: int
    available: int
    back_ordered: int


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    """Units of a product on an expected delivery."""

    product_id: int
    incoming: int
    expected_on: datetime


@dataclass(frozen=True, slots=True)
class StockChanges:
    """The levels written since a position, and the position from which to read next."""

    levels: list[StockRecord]
    position: int


async def read_stock_changes(tx: Transaction, position: int) -> StockChanges:
    """Return levels written by transactions from `position` on (0: all).

    The next position is the oldest transaction still under way, so that nothing committed late is missed; a level
    may be returned again.
    """
    next_position = await fetch_value(tx, "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
    levels = await fetch_all(
        tx,
        StockRecord,
        "select product_id, available, back_ordered from stock_level where changed_by >= %s::text::xid8",
        [str(position)],
    )
    return StockChanges(levels, next_position)


async def read_deliveries(tx: Transaction) -> list[DeliveryRecord]:
    """Return all incoming deliveries in order of date."""
    return await fetch_all(
        tx,
        DeliveryRecord,
        "select product_id, incoming, expected_on from incoming_stock order by expected_on, product_id",
    )
