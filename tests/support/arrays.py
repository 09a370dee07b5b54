"""Numbers as the database gives them in bulk, for tests without one."""

from datetime import UTC, date, datetime, timedelta

import numpy as np

from tradecounter.prices.queries.prices import ContractRows, PriceRows, day_number
from tradecounter.stock.queries.stock import DeliveryRows, StockRows

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EVER, _FOR_EVER = -(2**31), 2**31 - 1  # the first and the last day of a contract price without dates

Agreed = tuple[int, int, tuple[int, int, int], date | None, date | None]


def stock_rows(*levels: tuple[int, int, int]) -> StockRows:
    """Levels of product, units for sale and units back-ordered."""
    table = np.array(levels, dtype=np.int64).reshape(-1, 3)
    return StockRows(table[:, 0], table[:, 1], table[:, 2], np.zeros(len(table), dtype=np.int64))


def delivery_rows(*deliveries: tuple[int, int, datetime]) -> DeliveryRows:
    """Deliveries of product, units and moment, in order of date."""
    return DeliveryRows(
        np.array([d[0] for d in deliveries], dtype=np.int64),
        np.array([d[1] for d in deliveries], dtype=np.int32),
        np.array([(d[2] - _EPOCH) // timedelta(microseconds=1) for d in deliveries], dtype=np.int64),
    )


def price_rows(prices: dict[int, tuple[int, int, int]]) -> PriceRows:
    """Costs in pence by product."""
    ids = np.array(list(prices), dtype=np.int64)
    return PriceRows(ids, np.array(list(prices.values()), dtype=np.int32).reshape(-1, 3))


def contract_rows(*contracts: Agreed) -> ContractRows:
    """Contract prices of customer, product, costs in pence, first and last day, in any order."""
    ordered = sorted(contracts, key=lambda c: (c[0], day_number(c[3]) if c[3] else _EVER))
    return ContractRows(
        np.array([c[0] for c in ordered], dtype=np.int64),
        np.array([c[1] for c in ordered], dtype=np.int64),
        np.array([c[2] for c in ordered], dtype=np.int32).reshape(-1, 3),
        np.array([day_number(c[3]) if c[3] else _EVER for c in ordered], dtype=np.int32),
        np.array([day_number(c[4]) if c[4] else _FOR_EVER for c in ordered], dtype=np.int32),
    )
