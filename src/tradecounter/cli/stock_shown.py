"""A product's stock as the command line prints it."""

from collections.abc import Sequence
from typing import Any

from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import local_text
from tradecounter.stock.queries.lookup import deliveries_of, stock_level_of
from tradecounter.stock.rules import Delivery


async def stock_of(tx: Transaction, product_id: int) -> dict[str, int]:
    """Return a product's units by what they are there for."""
    level = await stock_level_of(tx, product_id)
    return {
        "on_hand": level.on_hand,
        "available": level.available,
        "allocated": level.allocated,
        "back_ordered": level.back_ordered,
    }


async def expected_deliveries(tx: Transaction, product_id: int) -> list[dict[str, Any]]:
    """Return a product's deliveries, their times in UK time."""
    deliveries: Sequence[Delivery] = await deliveries_of(tx, product_id)
    return [{"expected_on": local_text(d.expected_on), "incoming": d.incoming} for d in deliveries]
