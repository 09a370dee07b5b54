"""All prices, aligned with the rows of a catalogue snapshot; from it, each price profile's price vector.

A price profile is what decides a customer's prices: price list, discount, and the contract prices of the day.
Customers without contract prices share the vector of their profile.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tradecounter.customers.terms import CustomerTerms
from tradecounter.kit.digest import digest_of
from tradecounter.pricing.records import ContractPriceRecord, PriceRecords
from tradecounter.pricing.rules import UnitCosts

DEFAULT_LIST = "default"
NO_PRICE = -1

Costs = NDArray[np.int64]


@dataclass(frozen=True)
class PriceVector:
    """A profile's net unit costs in pence by catalogue row; NO_PRICE where the customer has none."""

    shared: Costs
    contract_rows: NDArray[np.int64]
    contract_costs: Costs

    @cached_property
    def digest(self) -> bytes:
        """A digest of all the prices."""
        return digest_of(self.shared.tobytes(), self.contract_rows.tobytes(), self.contract_costs.tobytes())

    def costs(self, rows: NDArray[np.int32]) -> Costs:
        """Return the costs of rows: one line each, for 1, 5 and 10 units."""
        costs = self.shared[rows]
        if len(self.contract_rows):
            places = np.searchsorted(self.contract_rows, rows)
            places[places == len(self.contract_rows)] = 0
            agreed = self.contract_rows[places] == rows
            costs[agreed] = self.contract_costs[places[agreed]]
        return costs

    def unit_costs(self, row: int) -> UnitCosts | None:
        """Return one row's costs, or None when the customer has no price for it."""
        single, five_plus, ten_plus = self.costs(np.array([row], dtype=np.int32))[0].tolist()
        return None if single == NO_PRICE else UnitCosts(single, five_plus, ten_plus)


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Price lists by row (gaps filled from the default list) and contract prices by customer."""

    lists: dict[str, Costs]
    nothing: Costs
    contracts: dict[int, list[ContractPriceRecord]]
    row_of_id: Mapping[int, int]
    _shared: dict[tuple[str | None, int], PriceVector] = field(default_factory=dict)
    _own: dict[int, tuple[CustomerTerms, date, PriceVector]] = field(default_factory=dict)

    def vector(self, terms: CustomerTerms, today: date) -> PriceVector:
        """Return the price vector of a customer on a UK date."""
        contracts = self.contracts.get(terms.customer_id)
        if not contracts:
            return self._shared_vector(terms)
        made_for, made_on, vector = self._own.get(terms.customer_id, (None, None, None))
        if vector is None or made_for != terms or made_on != today:
            vector = PriceVector(self._shared_vector(terms).shared, *self._agreed(contracts, today))
            self._own[terms.customer_id] = (terms, today, vector)
        return vector

    def _shared_vector(self, terms: CustomerTerms) -> PriceVector:
        """Return the vector of a customer's price list and discount, without contract prices."""
        profile = (terms.price_list, terms.discount)
        vector = self._shared.get(profile)
        if vector is None:
            listed = self.lists.get(terms.price_list or DEFAULT_LIST)
            listed = self.lists.get(DEFAULT_LIST, self.nothing) if listed is None else listed
            none = np.empty(0, dtype=np.int64)
            vector = PriceVector(discounted(listed, terms.discount), none, none.reshape(0, 3))
            self._shared[profile] = vector
        return vector

    def _agreed(self, contracts: list[ContractPriceRecord], today: date) -> tuple[NDArray[np.int64], Costs]:
        """Return the contract prices valid today, by row; of several the one that began last."""
        agreed = {
            self.row_of_id[c.product_id]: (c.single, c.five_plus, c.ten_plus)
            for c in contracts
            if (c.valid_from is None or c.valid_from <= today)
            and (c.valid_until is None or today <= c.valid_until)
            and c.product_id in self.row_of_id
        }
        rows = sorted(agreed)
        costs = np.array([agreed[row] for row in rows], dtype=np.int64).reshape(-1, 3)
        return np.array(rows, dtype=np.int64), costs


def discounted(costs: Costs, discount: int) -> Costs:
    """Take hundredths of a per cent off, rounded half up to whole pence; a missing price stays missing."""
    if discount == 0:
        return costs
    reduced = (costs * (10_000 - discount) + 5_000) // 10_000
    return np.where(costs == NO_PRICE, NO_PRICE, reduced)


def build_price_book(records: PriceRecords, row_of_id: Mapping[int, int]) -> PriceBook:
    """Align prices with a snapshot's rows; prices of products that it does not hold are left out."""
    nothing = np.full((len(row_of_id), 3), NO_PRICE, dtype=np.int64)
    ids = np.array(sorted(row_of_id), dtype=np.int64)
    rows = np.array([row_of_id[i] for i in ids.tolist()], dtype=np.int64)
    aligned: dict[str, Costs] = {}
    for key in sorted(records.lists, key=lambda key: key != DEFAULT_LIST):  # the default list first
        costs = aligned.get(DEFAULT_LIST, nothing).copy()
        listed = records.lists[key]
        places = np.searchsorted(ids, listed.product_ids)
        known = places < len(ids)
        known[known] = ids[places[known]] == listed.product_ids[known]
        costs[rows[places[known]]] = listed.costs[known]
        aligned[key] = costs
    return PriceBook(aligned, nothing, records.contracts, row_of_id)
