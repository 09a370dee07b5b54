"""Reads what will cover an order from the database, which knows of a delivery before this process's view does."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from tradecounter.db.pipeline import array
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.stock.rules import Cover, Delivery, cover, latest

_LEVELS = Statement(
    "select product_id, available, back_ordered from stock_level where product_id = any(:product_ids::bigint[])"
)
_DELIVERIES = Statement(
    "select product_id, incoming, expected_on from incoming_stock where product_id = any(:product_ids::bigint[])"
    " order by expected_on"
)


async def stored_cover(tx: Transaction, wanted: Mapping[int, int], now: datetime) -> Cover:
    """Return when units by product id are available together; takes one round trip."""
    async with tx.pipeline() as p:
        levels = p.fetch(_LEVELS, product_ids=array(wanted))
        coming = p.fetch(_DELIVERIES, product_ids=array(wanted))
    stored = {product_id: (available, back_ordered) for product_id, available, back_ordered in levels.rows}
    deliveries: defaultdict[int, list[Delivery]] = defaultdict(list)
    for product_id, incoming, expected_on in coming.rows:
        deliveries[product_id].append(Delivery(incoming, expected_on))
    return latest(
        [
            cover(units, *stored.get(product_id, (0, 0)), deliveries[product_id], now)
            for product_id, units in wanted.items()
        ]
    )
