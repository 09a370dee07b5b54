"""Prices as the database holds them, and the statements that read them all."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from tradecounter.db.rows import fetch_all, fetch_tuples
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class PriceRows:
    """Net unit costs in pence by product: `costs[i]` holds those for 1, 5 and 10 units of `product_ids[i]`."""

    product_ids: NDArray[np.int64]
    costs: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ContractPriceRecord:
    """A contract price: net unit costs in pence, and the first and last day it holds (None: open)."""

    customer_id: int
    product_id: int
    single: int
    five_plus: int
    ten_plus: int
    valid_from: date | None
    valid_until: date | None


@dataclass(frozen=True, slots=True)
class PriceRecords:
    """Every price list by its key, every contract price by its customer."""

    lists: dict[str, PriceRows]
    contracts: dict[int, list[ContractPriceRecord]]


async def read_prices(tx: Transaction) -> PriceRecords:
    """Return all prices; a break that a row lacks has taken the next lower one."""
    rows = await fetch_tuples(
        tx,
        """
        select price_list, product_id, (single_unit_cost * 100)::bigint,
               (coalesce(five_plus_unit_cost, single_unit_cost) * 100)::bigint,
               (coalesce(ten_plus_unit_cost, five_plus_unit_cost, single_unit_cost) * 100)::bigint
        from price order by price_list
        """,
    )
    by_list: defaultdict[str, list[tuple[int, ...]]] = defaultdict(list)
    for price_list, *numbers in rows:
        by_list[price_list].append(tuple(numbers))
    contracts: defaultdict[int, list[ContractPriceRecord]] = defaultdict(list)
    for contract in await _contract_prices(tx):
        contracts[contract.customer_id].append(contract)
    return PriceRecords({key: _as_arrays(numbers) for key, numbers in by_list.items()}, dict(contracts))


async def _contract_prices(tx: Transaction) -> list[ContractPriceRecord]:
    return await fetch_all(
        tx,
        ContractPriceRecord,
        """
        select customer_id, product_id, valid_from, valid_until, (single_unit_cost * 100)::bigint as single,
               (coalesce(five_plus_unit_cost, single_unit_cost) * 100)::bigint as five_plus,
               (coalesce(ten_plus_unit_cost, five_plus_unit_cost, single_unit_cost) * 100)::bigint as ten_plus
        from contract_price order by customer_id, valid_from nulls first, id
        """,
    )


def _as_arrays(numbers: list[tuple[int, ...]]) -> PriceRows:
    table = np.array(numbers, dtype=np.int64).reshape(-1, 4)
    return PriceRows(table[:, 0], table[:, 1:])
