"""Prices by row of a catalogue snapshot.

A price list and a discount make a profile. Customers with the same profile share the profile's prices.
Contract prices are added per customer.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property
from typing import Self

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.customers.queries.terms import CustomerTerms
from tradecounter.kit.digest import digest_of
from tradecounter.prices.queries.prices import NO_PRICE, ContractRows, Costs, PriceRows, day_number
from tradecounter.prices.rules import UnitCosts, discounted_pence
from tradecounter.products.columns.lookups import RowOfId, bitmap

DEFAULT_LIST = "default"
Rows = NDArray[np.int32]
ProductIds = NDArray[np.int64]
Profile = tuple[str | None, int]

_NO_ROWS: Rows = np.empty(0, dtype=np.int32)
_NO_PLACES = np.empty(0, dtype=np.intp)
_NO_COSTS: Costs = np.empty((0, 3), dtype=np.int32)


@dataclasses.dataclass(frozen=True)
class SharedPrices:
    """A profile's net unit costs in pence by row; NO_PRICE for a row without a price.

    Those less a `discount`, in hundredths of a per cent, have the same list's prices without it in `undiscounted`.
    """

    costs: Costs
    undiscounted: "SharedPrices | None" = None
    discount: int = 0

    def less(self, discount: int) -> "SharedPrices":
        """Return the prices less hundredths of a per cent."""
        return SharedPrices(discounted(self.costs, discount), self, discount)

    @cached_property
    def digest(self) -> bytes:
        """A digest of all prices."""
        if self.undiscounted is None:
            return digest_of(self.costs.tobytes())
        return digest_of(self.undiscounted.digest, str(self.discount).encode())

    @cached_property
    def priced(self) -> BitMap:
        """The rows that have a price."""
        if self.undiscounted is None:
            return bitmap(np.flatnonzero(self.costs[:, 0] != NO_PRICE))
        return self.undiscounted.priced


@dataclasses.dataclass(frozen=True)
class PriceVector:
    """A customer's net unit costs in pence by row: contract prices, and the profile's prices for all other rows."""

    shared: SharedPrices
    contract_rows: Rows = dataclasses.field(default_factory=lambda: _NO_ROWS)
    contract_costs: Costs = dataclasses.field(default_factory=lambda: _NO_COSTS)

    @cached_property
    def digest(self) -> bytes:
        """A digest of all prices."""
        return digest_of(self.shared.digest, self.contract_rows.tobytes(), self.contract_costs.tobytes())

    @cached_property
    def priced(self) -> BitMap:
        """The rows that have a price."""
        if not len(self.contract_rows):
            return self.shared.priced
        readable = self.contract_costs[:, 0] != NO_PRICE
        return (self.shared.priced | bitmap(self.contract_rows[readable])) - bitmap(self.contract_rows[~readable])

    def costs(self, rows: Rows) -> Costs:
        """Return an array with a line per row: the costs for 1, 5 and 10 units."""
        costs = self.shared.costs[rows]
        has_contract, places = self._contract_places(rows)
        costs[has_contract] = self.contract_costs[places]
        return costs

    def single_costs(self, rows: Rows | slice) -> NDArray[np.int32]:
        """Return each row's cost of one unit; of all rows for `slice(None)`."""
        if isinstance(rows, slice):
            whole: NDArray[np.int32] = self.shared.costs[:, 0].copy()
            whole[self.contract_rows] = self.contract_costs[:, 0]
            return whole
        costs: NDArray[np.int32] = self.shared.costs[rows, 0]
        has_contract, places = self._contract_places(rows)
        costs[has_contract] = self.contract_costs[places, 0]
        return costs

    def _contract_places(self, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indexes of the rows with a contract price, and the places of those prices."""
        if not len(self.contract_rows):
            return _NO_PLACES, _NO_PLACES
        places = np.searchsorted(self.contract_rows, rows)
        places[places == len(self.contract_rows)] = 0
        has_contract = np.flatnonzero(self.contract_rows[places] == rows)
        return has_contract, places[has_contract]

    def unit_costs(self, row: int) -> UnitCosts | None:
        """Return a row's costs, by its contract price if it has one, else by the price list; None without a price."""
        # For one row, `costs` takes several times as long.
        place = int(self.contract_rows.searchsorted(row))
        has_contract = place < len(self.contract_rows) and self.contract_rows[place] == row
        costs = self.contract_costs[place] if has_contract else self.shared.costs[row]
        single, five_plus, ten_plus = costs.tolist()
        return None if single == NO_PRICE else UnitCosts(single, five_plus, ten_plus)


class PriceLists(Struct, frozen=True):
    """Price lists by row, with gaps filled from the default list, and the computed prices of profiles."""

    costs: dict[str, Costs]
    no_prices: Costs
    cached: dict[Profile, SharedPrices] = field(default_factory=dict)

    def shared(self, profile: Profile) -> SharedPrices:
        """Return the prices of a price list and a discount."""
        if profile not in self.cached:
            price_list, discount = profile
            whole = self.shared((price_list, 0)) if discount else SharedPrices(self.listed(price_list))
            self.cached[profile] = whole.less(discount) if discount else whole
        return self.cached[profile]

    def listed(self, price_list: str | None) -> Costs:
        """Return a price list's costs by row; an unknown list has the default list's costs."""
        listed = self.costs.get(price_list or DEFAULT_LIST)
        return self.costs.get(DEFAULT_LIST, self.no_prices) if listed is None else listed

    @property
    def profiles(self) -> list[Profile]:
        """The profiles whose prices are cached."""
        return list(self.cached)

    def prepare(self, profiles: Iterable[Profile]) -> None:
        """Compute and cache the prices of profiles."""
        for profile in profiles:
            prices = self.shared(profile)
            _ = prices.digest, prices.priced

    def with_products(self, product_ids: ProductIds, prices: Mapping[str, PriceRows], row_of_id: RowOfId) -> Self:
        """Return the lists in which these products have `prices` and no others."""
        few = align_lists(prices, RowOfId.of(product_ids))
        rows = row_of_id.rows(product_ids)
        known = rows >= 0
        rows = rows[known]
        after = type(self)({}, self.no_prices)
        for key in self.costs.keys() | few.costs.keys():
            former, costs = self.listed(key), few.listed(key)[known]
            after.costs[key] = former if np.array_equal(former[rows], costs) else _with_rows(former, rows, costs)
        profiles = self.profiles  # requests may add more meanwhile
        for profile in profiles:
            price_list, discount = profile
            listed = after.listed(price_list)
            if listed is self.listed(price_list):
                after.cached[profile] = self.cached[profile]
            elif discount:
                costs = _with_rows(self.cached[profile].costs, rows, discounted(listed[rows], discount))
                after.cached[profile] = SharedPrices(costs, after.shared((price_list, 0)), discount)
        after.prepare(profiles)
        return after

    def reusing(self, before: "PriceLists") -> Self:
        """Reuse the cached prices of `before`, which has the same rows, for unchanged lists; compute the others."""
        for key, costs in self.costs.items():
            old = before.costs.get(key)
            if old is not None and np.array_equal(old, costs):
                self.costs[key] = old
        for profile in before.profiles:
            if self.listed(profile[0]) is before.listed(profile[0]):
                self.cached[profile] = before.cached[profile]
        self.prepare(before.profiles)
        return self


class Contracts(Struct, frozen=True):
    """Contract prices by row, each customer's together, and those that were valid on the day of the latest question."""

    rows: Rows
    contracts: ContractRows
    _valid: dict[int, tuple[date, Rows, Costs]] = field(default_factory=dict)

    def valid_on(self, customer_id: int, today: date) -> tuple[Rows, Costs]:
        """Return the rows and costs of a customer's contract prices on a date; the latest if a row has several."""
        day, rows, costs = self._valid.get(customer_id, (None, _NO_ROWS, _NO_COSTS))
        if day != today:
            rows, costs = self._select(customer_id, today)
            self._valid[customer_id] = today, rows, costs
        return rows, costs

    def _select(self, customer_id: int, today: date) -> tuple[Rows, Costs]:
        prices = self.contracts
        start, end = np.searchsorted(prices.customer_ids, [customer_id, customer_id + 1]).tolist()
        if start == end:
            return _NO_ROWS, _NO_COSTS
        day, rows = day_number(today), self.rows[start:end]
        valid = (rows >= 0) & (prices.first_days[start:end] <= day) & (day <= prices.last_days[start:end])
        rows, costs = rows[valid][::-1], prices.costs[start:end][valid][::-1]
        distinct, latest = np.unique(rows, return_index=True)
        return distinct, costs[latest]

    def has_any(self, customer_id: int) -> bool:
        """Return whether a customer has contract prices, valid or not."""
        place = int(self.contracts.customer_ids.searchsorted(customer_id))
        return place < len(self.contracts.customer_ids) and bool(self.contracts.customer_ids[place] == customer_id)


class PriceBook(Struct, frozen=True):
    """Price lists and contract prices by row, and the price vectors made from them."""

    lists: PriceLists
    contracts: Contracts
    _of_customer: dict[int, tuple[CustomerTerms, date, PriceVector]] = field(default_factory=dict)

    def vector(self, terms: CustomerTerms, today: date) -> PriceVector:
        """Return a customer's price vector on a UK date."""
        cached_terms, day, vector = self._of_customer.get(terms.customer_id, (None, None, None))
        if vector is None or cached_terms != terms or day != today:
            shared = self.lists.shared((terms.price_list, terms.discount))
            vector = PriceVector(shared, *self.contracts.valid_on(terms.customer_id, today))
            self._of_customer[terms.customer_id] = (terms, today, vector)
        return vector


def _with_rows(before: Costs, rows: Rows, costs: Costs) -> Costs:
    after = before.copy()
    after[rows] = costs
    return after


def discounted(costs: Costs, discount: int) -> Costs:
    """Return costs less hundredths of a per cent, rounded half up to whole pence; a missing price stays missing."""
    if discount == 0:
        return costs
    reduced = discounted_pence(costs.astype(np.int64), discount)
    return np.where(costs == NO_PRICE, NO_PRICE, reduced).astype(np.int32)


def align_lists(lists: Mapping[str, PriceRows], row_of_id: RowOfId, before: PriceLists | None = None) -> PriceLists:
    """Return price lists by row; products without a row are ignored.

    Reuses the cached prices of `before`, which has the same rows, for unchanged lists.
    """
    no_prices = np.full((len(row_of_id), 3), NO_PRICE, dtype=np.int32)
    aligned: dict[str, Costs] = {}
    for key in sorted(lists, key=lambda key: key != DEFAULT_LIST):  # the default list first
        costs = aligned.get(DEFAULT_LIST, no_prices).copy()
        rows = row_of_id.rows(lists[key].product_ids)
        costs[rows[rows >= 0]] = lists[key].costs[rows >= 0]
        aligned[key] = costs
    result = PriceLists(aligned, no_prices)
    return result if before is None else result.reusing(before)


def align_contracts(contracts: ContractRows, row_of_id: RowOfId) -> Contracts:
    """Return contract prices by row; a product without a row has row -1."""
    return Contracts(row_of_id.rows(contracts.product_ids), contracts)
