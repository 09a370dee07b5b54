"""Reads all prices, perhaps millions, into arrays."""

from collections.abc import Mapping
from datetime import date
from typing import Any, LiteralString

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tradecounter.db.arrays import ArrayStatement, fetch_array
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.prices.rules import fill_breaks

Costs = NDArray[np.int32]

_EPOCH = date(2000, 1, 1)  # day 0
NO_PRICE = -1

# NaN or a number too large for its column, which no import writes, makes the row NO_PRICE instead of failing the query.
# -1 is NO_PRICE, -2 is NO_BREAK.
COSTS: LiteralString = """
    case when readable then (single_unit_cost * 100)::integer else -1 end as single,
    case when readable then coalesce(five_plus_unit_cost * 100, -2)::integer else -1 end as five_plus,
    case when readable then coalesce(ten_plus_unit_cost * 100, -2)::integer else -1 end as ten_plus
"""
READABLE: LiteralString = """
    lateral (select greatest(single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost) <= 21474836 as readable) as r
"""


# The first and the last day of a contract price.
DAYS: LiteralString = """
    case valid_from when '-infinity' then -2147483648 when 'infinity' then 2147483647
         else coalesce(valid_from - date '2000-01-01', -2147483648) end as first_day,
    case valid_until when '-infinity' then -2147483648 when 'infinity' then 2147483647
         else coalesce(valid_until - date '2000-01-01', 2147483647) end as last_day
"""


def day_number(day: date) -> int:
    """Return a date as arrays store it: days since 1 January 2000."""
    return (day - _EPOCH).days


class PriceRows(Struct, frozen=True):
    """Net unit costs in pence: `costs[i]` are for 1, 5 and 10 units of `product_ids[i]`; NO_PRICE if unreadable."""

    product_ids: NDArray[np.int64]
    costs: Costs


class ContractRows(Struct, frozen=True):
    """Contract prices in order of customer and first day; costs are net pence, days as in `day_number`."""

    customer_ids: NDArray[np.int64]
    product_ids: NDArray[np.int64]
    costs: Costs
    first_days: NDArray[np.int32]
    last_days: NDArray[np.int32]


def no_contracts() -> ContractRows:
    """Return an empty set of contract prices."""
    ids, days = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    return ContractRows(
        customer_ids=ids, product_ids=ids, costs=np.empty((0, 3), dtype=np.int32), first_days=days, last_days=days
    )


_READ_PRICE_LISTS = Statement("select key from price_list order by key")


async def read_price_lists(tx: Transaction, product_ids: NDArray[np.int64] | None = None) -> dict[str, PriceRows]:
    """Return all price lists by key: all prices, or those of some products."""
    keys = await tx.fetch_all(_READ_PRICE_LISTS)
    return {key: await _read_price_list(tx, key, product_ids) for (key,) in keys}


_COST_COLUMNS: dict[LiteralString, LiteralString] = {"single": "int4", "five_plus": "int4", "ten_plus": "int4"}

_PRICE_LIST = ArrayStatement(
    f"select product_id, {COSTS} from price, {READABLE} where price_list = :price_list",  # noqa: S608 literals of this module
    {"product_id": "int8", **_COST_COLUMNS},
)

_PRICES_OF_PRODUCTS = ArrayStatement(
    f"""
    select product_id, {COSTS} from price, {READABLE}
    where price_list = :price_list
      and product_id = any(array(select json_array_elements_text(:product_ids::json)::bigint))
    """,  # noqa: S608 literals of this module
    {"product_id": "int8", **_COST_COLUMNS},
)


async def _read_price_list(tx: Transaction, key: str, product_ids: NDArray[np.int64] | None) -> PriceRows:
    if product_ids is None:
        rows = await fetch_array(tx, _PRICE_LIST, price_list=key)
    else:
        ids = json_of(product_ids.tolist())
        rows = await fetch_array(tx, _PRICES_OF_PRODUCTS, price_list=key, product_ids=ids)
    return PriceRows(rows["product_id"].astype(np.int64), _costs(rows))


_CONTRACT_PRICES = ArrayStatement(
    f"""
    select customer_id, product_id, {COSTS}, {DAYS}, id
    from contract_price, {READABLE}
    """,  # noqa: S608 literals of this module
    {"customer_id": "int8", "product_id": "int8", **_COST_COLUMNS, "first_day": "int4", "last_day": "int4"},
    order_by="customer_id, first_day, id",
)


async def read_contract_prices(tx: Transaction) -> ContractRows:
    """Return all contract prices."""
    rows = await fetch_array(tx, _CONTRACT_PRICES)
    return ContractRows(
        customer_ids=rows["customer_id"].astype(np.int64),
        product_ids=rows["product_id"].astype(np.int64),
        costs=_costs(rows),
        first_days=rows["first_day"].astype(np.int32),
        last_days=rows["last_day"].astype(np.int32),
    )


def unreadable_prices(lists: Mapping[str, PriceRows]) -> list[str]:
    """Return a message about each list price that could not be read."""
    return [
        f"price of product {product_id} on price list {key}"
        for key, rows in lists.items()
        for product_id in rows.product_ids[rows.costs[:, 0] == NO_PRICE].tolist()
    ]


def unreadable_contracts(contracts: ContractRows) -> list[str]:
    """Return a message about each contract price that could not be read."""
    bad = contracts.costs[:, 0] == NO_PRICE
    products, customers = contracts.product_ids[bad].tolist(), contracts.customer_ids[bad].tolist()
    return [
        f"contract price of product {product} for customer {customer}"
        for product, customer in zip(products, customers, strict=True)
    ]


def _costs(rows: NDArray[Any]) -> Costs:
    columns = [rows[name].astype(np.int32) for name in ("single", "five_plus", "ten_plus")]
    return fill_breaks(np.stack(columns, axis=1))
