"""All prices, aligned with the rows of a catalogue snapshot; from it, each price profile's price vector.

A price profile is what decides a customer's prices: price list, discount, and the contract prices of the day.
Customers without contract prices share the vector of their profile.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.catalogue.columns.bitmaps import bitmap
from tradecounter.catalogue.columns.row_of_id import RowOfId
from tradecounter.customers.queries.terms import CustomerTerms
from tradecounter.kit.digest import digest_of
from tradecounter.pricing.queries.prices import NO_PRICE, ContractRows, Costs, PriceRows, day_number
from tradecounter.pricing.rules import UnitCosts, discounted_pence

DEFAULT_LIST = "default"
Rows = NDArray[np.int32]
Profile = tuple[str | None, int]

_NO_ROWS: Rows = np.empty(0, dtype=np.int32)
_NO_PLACES = np.empty(0, dtype=np.intp)
_NO_COSTS: Costs = np.empty((0, 3), dtype=np.int32)


@dataclass(frozen=True)
class SharedPrices:
    """A profile's net unit costs in pence by catalogue row; NO_PRICE where it has none."""

    costs: Costs

    @cached_property
    def digest(self) -> bytes:
        """A digest of all the prices."""
        return digest_of(self.costs.tobytes())

    @cached_property
    def priced(self) -> BitMap:
        """The rows that have a price."""
        return bitmap(np.flatnonzero(self.costs[:, 0] != NO_PRICE))


@dataclass(frozen=True)
class PriceVector:
    """A customer's net unit costs in pence by catalogue row: those of the profile, but for contract prices."""

    shared: SharedPrices
    contract_rows: Rows = field(default_factory=lambda: _NO_ROWS)
    contract_costs: Costs = field(default_factory=lambda: _NO_COSTS)

    @cached_property
    def digest(self) -> bytes:
        """A digest of all the prices."""
        return digest_of(self.shared.digest, self.contract_rows.tobytes(), self.contract_costs.tobytes())

    @cached_property
    def priced(self) -> BitMap:
        """The rows that have a price."""
        if not len(self.contract_rows):
            return self.shared.priced
        agreed = self.contract_costs[:, 0] != NO_PRICE
        return (self.shared.priced | bitmap(self.contract_rows[agreed])) - bitmap(self.contract_rows[~agreed])

    def costs(self, rows: Rows) -> Costs:
        """Return the costs of rows: one line each, for 1, 5 and 10 units."""
        costs = self.shared.costs[rows]
        agreed, places = self._agreed(rows)
        costs[agreed] = self.contract_costs[places]
        return costs

    def single_costs(self, rows: Rows) -> NDArray[np.int32]:
        """Return what one unit of each row costs."""
        costs: NDArray[np.int32] = self.shared.costs[rows, 0]
        agreed, places = self._agreed(rows)
        costs[agreed] = self.contract_costs[places, 0]
        return costs

    def _agreed(self, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return which of the rows have a contract price, and where that one is."""
        if not len(self.contract_rows):
            return _NO_PLACES, _NO_PLACES
        places = np.searchsorted(self.contract_rows, rows)
        places[places == len(self.contract_rows)] = 0
        agreed = np.flatnonzero(self.contract_rows[places] == rows)
        return agreed, places[agreed]

    def unit_costs(self, row: int) -> UnitCosts | None:
        """Return one row's costs, or None when the customer has no price for it."""
        single, five_plus, ten_plus = self.costs(np.array([row], dtype=np.int32))[0].tolist()
        return None if single == NO_PRICE else UnitCosts(single, five_plus, ten_plus)


@dataclass(frozen=True, slots=True)
class PriceLists:
    """Price lists by row, the gaps filled from the default list."""

    costs: dict[str, Costs]
    nothing: Costs
    worked_out: dict[Profile, SharedPrices] = field(default_factory=dict)

    def shared(self, profile: Profile) -> SharedPrices:
        """Return the prices of a price list and a discount."""
        prices = self.worked_out.get(profile)
        if prices is None:
            prices = SharedPrices(discounted(self.listed(profile[0]), profile[1]))
            self.worked_out[profile] = prices
        return prices

    def listed(self, price_list: str | None) -> Costs:
        """Return a price list's costs by row; an unknown one is the default list."""
        listed = self.costs.get(price_list or DEFAULT_LIST)
        return self.costs.get(DEFAULT_LIST, self.nothing) if listed is None else listed

    @property
    def profiles(self) -> list[Profile]:
        """The profiles that were asked for."""
        return list(self.worked_out)

    def work_out(self, profiles: Iterable[Profile]) -> None:
        """Make ready what requests of these profiles will ask for."""
        for profile in profiles:
            prices = self.shared(profile)
            _ = prices.digest, prices.priced

    def taking_over_from(self, before: "PriceLists") -> Self:
        """Keep what `before`, of the same rows, holds of lists that have not changed; work out its other profiles."""
        for key, costs in self.costs.items():
            old = before.costs.get(key)
            if old is not None and np.array_equal(old, costs):
                self.costs[key] = old
        for profile in before.profiles:
            if self.listed(profile[0]) is before.listed(profile[0]):
                self.worked_out[profile] = before.worked_out[profile]
        self.work_out(before.profiles)
        return self


@dataclass(frozen=True, slots=True)
class Contracts:
    """Contract prices by row, each customer's together."""

    rows: Rows
    contracts: ContractRows

    def agreed(self, customer_id: int, today: date) -> tuple[Rows, Costs]:
        """Return a customer's contract prices valid today, by row; of several the one that began last."""
        held = self.contracts
        start, end = np.searchsorted(held.customer_ids, [customer_id, customer_id + 1]).tolist()
        if start == end:
            return _NO_ROWS, _NO_COSTS
        day, rows = day_number(today), self.rows[start:end]
        valid = (rows >= 0) & (held.first_days[start:end] <= day) & (day <= held.last_days[start:end])
        rows, costs = rows[valid][::-1], held.costs[start:end][valid][::-1]
        distinct, latest = np.unique(rows, return_index=True)
        return distinct, costs[latest]

    def names(self, customer_id: int) -> bool:
        """Tell whether a customer has contract prices, on whatever day."""
        start, end = np.searchsorted(self.contracts.customer_ids, [customer_id, customer_id + 1]).tolist()
        return bool(start < end)


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Price lists and contract prices by row."""

    lists: PriceLists
    contracts: Contracts
    _vectors: dict[Profile, PriceVector] = field(default_factory=dict)
    _own: dict[int, tuple[CustomerTerms, date, PriceVector]] = field(default_factory=dict)

    def vector(self, terms: CustomerTerms, today: date) -> PriceVector:
        """Return the price vector of a customer on a UK date."""
        made_for, made_on, vector = self._own.get(terms.customer_id, (None, None, None))
        if vector is None or made_for != terms or made_on != today:
            vector = self._made(terms, today)
            self._own[terms.customer_id] = (terms, today, vector)
        return vector

    def _made(self, terms: CustomerTerms, today: date) -> PriceVector:
        profile = (terms.price_list, terms.discount)
        if self.contracts.names(terms.customer_id):
            return PriceVector(self.lists.shared(profile), *self.contracts.agreed(terms.customer_id, today))
        if profile not in self._vectors:
            self._vectors[profile] = PriceVector(self.lists.shared(profile))
        return self._vectors[profile]


def discounted(costs: Costs, discount: int) -> Costs:
    """Take hundredths of a per cent off, rounded half up to whole pence; a missing price stays missing."""
    if discount == 0:
        return costs
    reduced = discounted_pence(costs.astype(np.int64), discount)
    return np.where(costs == NO_PRICE, NO_PRICE, reduced).astype(np.int32)


def align_lists(lists: Mapping[str, PriceRows], row_of_id: RowOfId, before: PriceLists | None = None) -> PriceLists:
    """Align price lists with a snapshot's rows; prices of products that it does not hold are left out.

    What `before`, of the same rows, has worked out is kept for the lists that have not changed.
    """
    nothing = np.full((len(row_of_id), 3), NO_PRICE, dtype=np.int32)
    aligned: dict[str, Costs] = {}
    for key in sorted(lists, key=lambda key: key != DEFAULT_LIST):  # the default list first
        costs = aligned.get(DEFAULT_LIST, nothing).copy()
        rows = row_of_id.rows(lists[key].product_ids)
        costs[rows[rows >= 0]] = lists[key].costs[rows >= 0]
        aligned[key] = costs
    made = PriceLists(aligned, nothing)
    return made if before is None else made.taking_over_from(before)


def align_contracts(contracts: ContractRows, row_of_id: RowOfId) -> Contracts:
    """Align contract prices with a snapshot's rows; a product that it does not hold has row -1."""
    return Contracts(row_of_id.rows(contracts.product_ids), contracts)
