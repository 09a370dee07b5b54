"""Customers' prices by catalogue row, from price lists and contract prices."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.arrays import Agreed, contract_rows, price_rows
from tradecounter.customers.queries.terms import CustomerTerms
from tradecounter.prices.price_book import (
    PriceBook,
    PriceLists,
    PriceVector,
    align_contracts,
    align_lists,
    discounted,
)
from tradecounter.prices.queries.prices import NO_PRICE
from tradecounter.prices.rules import UnitCosts
from tradecounter.products.columns.lookups import RowOfId

TODAY = date(2026, 6, 16)
ROW_OF_ID = RowOfId.of([30, 10, 20, 40])  # rows are in order of SKU, ids as they came


def terms(customer_id: int = 1, price_list: str | None = None, discount: int = 0) -> CustomerTerms:
    return CustomerTerms(customer_id, price_list, discount, trade_account=False)


def agreed(product_id: int, cost: int, start: date | None = None, end: date | None = None) -> Agreed:
    return 1, product_id, (cost, cost - 1, cost - 2), start, end


def lists(row_of_id: RowOfId = ROW_OF_ID, /, **listed: dict[int, tuple[int, int, int]]) -> PriceLists:
    return align_lists({key: price_rows(prices) for key, prices in listed.items()}, row_of_id)


def book(*contracts: Agreed, **listed: dict[int, tuple[int, int, int]]) -> PriceBook:
    return PriceBook(lists(**listed), align_contracts(contract_rows(*contracts), ROW_OF_ID))


def singles(vector: PriceVector) -> list[int | None]:
    """Return the cost of one unit by row, after checking that the array equals the single rows."""
    costs = [vector.unit_costs(row) for row in range(len(ROW_OF_ID))]
    together = vector.costs(np.arange(len(ROW_OF_ID), dtype=np.int32)).tolist()
    assert together == [[NO_PRICE] * 3 if c is None else list(c) for c in costs]
    assert list(vector.priced) == [row for row, c in enumerate(costs) if c is not None]
    return [None if c is None else c.single for c in costs]


DEFAULT = {10: (100, 90, 80), 20: (200, 190, 180), 99: (1, 1, 1)}


@pytest.mark.parametrize(
    ("price_list", "expected"),
    [
        (None, [None, 100, 200, None]),
        ("default", [None, 100, 200, None]),
        ("gold", [300, 60, 200, None]),
        ("empty", [None, 100, 200, None]),
        ("unheard of", [None, 100, 200, None]),
    ],
)
def test_a_list_prices_its_products_and_the_default_list_the_others(
    price_list: str | None, expected: list[int | None]
) -> None:
    priced = book(gold={10: (60, 50, 40), 30: (300, 290, 280)}, default=DEFAULT, empty={})
    assert singles(priced.vector(terms(price_list=price_list), TODAY)) == expected


def test_without_price_lists_no_product_has_a_price() -> None:
    assert singles(book().vector(terms(price_list="gold"), TODAY)) == [None] * 4


def test_an_empty_catalogue_has_no_prices() -> None:
    nothing = RowOfId.of([])
    empty = PriceBook(lists(nothing, default=DEFAULT), align_contracts(contract_rows(agreed(10, 5)), nothing))
    vector = empty.vector(terms(), TODAY)
    assert vector.costs(np.empty(0, dtype=np.int32)).shape == (0, 3)


@pytest.mark.parametrize(
    ("contracts", "expected"),
    [
        ([], [None, 50, 100, None]),
        ([agreed(10, 7)], [None, 7, 100, None]),
        ([agreed(30, 7), agreed(40, 8)], [7, 50, 100, 8]),
        ([agreed(99, 7)], [None, 50, 100, None]),
        ([agreed(10, 7, TODAY, TODAY)], [None, 7, 100, None]),
        ([agreed(10, 7, date(2026, 6, 17))], [None, 50, 100, None]),
        ([agreed(10, 7, None, date(2026, 6, 15))], [None, 50, 100, None]),
        ([agreed(10, 7), agreed(10, 9, date(2020, 1, 1)), agreed(10, 3, date(2021, 1, 1))], [None, 3, 100, None]),
        ([agreed(10, 7), agreed(10, 9, date(2020, 1, 1), date(2020, 1, 2))], [None, 7, 100, None]),
        ([agreed(10, 0)], [None, 0, 100, None]),
    ],
)
def test_valid_contract_prices_take_precedence_without_discount(
    contracts: list[Agreed], expected: list[int | None]
) -> None:
    priced = book(*contracts, default=DEFAULT)
    assert singles(priced.vector(terms(discount=5000), TODAY)) == expected
    assert singles(priced.vector(terms(customer_id=2, discount=5000), TODAY)) == [None, 50, 100, None]


def test_a_contract_price_has_its_own_breaks() -> None:
    vector = book(agreed(20, 50), default=DEFAULT).vector(terms(), TODAY)
    assert vector.unit_costs(2) == UnitCosts(50, 49, 48)
    assert vector.unit_costs(1) == UnitCosts(100, 90, 80)


def test_a_price_vector_depends_on_the_day_and_the_customers_terms() -> None:
    priced = book(agreed(10, 7, TODAY, TODAY), default=DEFAULT)
    assert singles(priced.vector(terms(), date(2026, 6, 15))) == [None, 100, 200, None]
    assert singles(priced.vector(terms(), TODAY)) == [None, 7, 200, None]
    assert singles(priced.vector(terms(discount=1000), TODAY)) == [None, 7, 180, None]
    assert singles(priced.vector(terms(), date(2026, 6, 17))) == [None, 100, 200, None]


def test_customers_with_equal_terms_share_one_price_vector() -> None:
    priced = book(default=DEFAULT, gold={})
    first, second = (priced.vector(terms(customer_id=i, price_list="gold", discount=250), TODAY) for i in (2, 3))
    assert first.shared is second.shared


PENCE = st.integers(0, 100_000_000)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(PENCE | st.just(NO_PRICE), min_size=1, max_size=8), st.integers(0, 10_000))
def test_discounted_prices_are_rounded_half_up(pence: list[int], hundredths: int) -> None:
    costs = np.array(pence, dtype=np.int32).repeat(3).reshape(-1, 3)
    left = 1 - Decimal(hundredths) / 10_000
    expected = [
        NO_PRICE if p == NO_PRICE else int((Decimal(p) * left).quantize(Decimal(1), ROUND_HALF_UP)) for p in pence
    ]
    assert discounted(costs, hundredths).tolist() == [[p] * 3 for p in expected]


CONTRACTS = st.dictionaries(st.sampled_from([10, 20, 30, 40, 50]), PENCE.filter(lambda cost: cost > 2), max_size=5)
LISTED = st.dictionaries(st.sampled_from([10, 20, 30, 40, 50]), st.tuples(PENCE, PENCE, PENCE), max_size=5)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(contracts=CONTRACTS, own=LISTED, default=LISTED, chosen=st.lists(st.integers(0, 3), max_size=8))
def test_price_vectors_equal_prices_that_are_looked_up_one_by_one(
    contracts: dict[int, int],
    own: dict[int, tuple[int, int, int]],
    default: dict[int, tuple[int, int, int]],
    chosen: list[int],
) -> None:
    priced = book(*(agreed(product, cost) for product, cost in contracts.items()), own=own, default=default)
    vector = priced.vector(terms(price_list="own"), TODAY)
    id_of_row = {row: product for product, row in ROW_OF_ID.items()}
    expected = []
    for row in chosen:
        product = id_of_row[row]
        cost = (contracts[product], contracts[product] - 1, contracts[product] - 2) if product in contracts else None
        expected.append(list(cost or own.get(product) or default.get(product) or [NO_PRICE] * 3))
    assert vector.costs(np.array(chosen, dtype=np.int32)).tolist() == expected


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    before=st.dictionaries(st.sampled_from(["default", "gold", "gone"]), LISTED),
    after=st.dictionaries(st.sampled_from(["default", "gold", "new"]), LISTED),
)
def test_lists_with_reused_prices_equal_new_lists(
    before: dict[str, dict[int, tuple[int, int, int]]], after: dict[str, dict[int, tuple[int, int, int]]]
) -> None:
    profiles = [(key, discount) for key in (None, "gold", "gone", "new") for discount in (0, 333)]
    old, expected = lists(**before), lists(**after)
    old.prepare(profiles)
    reusing = align_lists({key: price_rows(prices) for key, prices in after.items()}, ROW_OF_ID, old)
    for profile in profiles:
        assert reusing.shared(profile).costs.tolist() == expected.shared(profile).costs.tolist()
        assert reusing.shared(profile).digest == expected.shared(profile).digest
        assert reusing.shared(profile).priced == expected.shared(profile).priced


@pytest.mark.sweep
@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    before=st.dictionaries(st.sampled_from(["default", "gold", "gone"]), LISTED),
    after=st.dictionaries(st.sampled_from(["default", "gold", "new"]), LISTED),
    changed=st.sets(st.sampled_from([10, 20, 30, 40, 99])),
)
def test_lists_with_new_prices_of_some_products_equal_new_lists(
    before: dict[str, dict[int, tuple[int, int, int]]],
    after: dict[str, dict[int, tuple[int, int, int]]],
    changed: set[int],
) -> None:
    def of(prices: dict[str, dict[int, tuple[int, int, int]]], key: str, *, chosen: bool) -> dict[int, Any]:
        return {product: costs for product, costs in prices.get(key, {}).items() if (product in changed) == chosen}

    profiles = [(key, discount) for key in (None, "gold", "gone", "new") for discount in (0, 333)]
    old = lists(**before)
    old.prepare(profiles)
    new = old.with_products(
        np.array(sorted(changed), dtype=np.int64),
        {key: price_rows(of(after, key, chosen=True)) for key in after},
        ROW_OF_ID,
    )
    keys = before.keys() | after.keys()
    expected = lists(**{key: of(before, key, chosen=False) | of(after, key, chosen=True) for key in keys})
    for profile in profiles:
        assert new.shared(profile).costs.tolist() == expected.shared(profile).costs.tolist()
        assert new.shared(profile).digest == expected.shared(profile).digest
        assert new.shared(profile).priced == expected.shared(profile).priced


def test_prices_of_an_unchanged_list_are_reused() -> None:
    old = lists(default=DEFAULT, gold={10: (60, 50, 40)}, silver={10: (70, 60, 50)})
    old.prepare([("gold", 250), ("silver", 250)])
    prices = {"default": DEFAULT, "gold": {10: (60, 50, 40)}, "silver": {10: (71, 60, 50)}}
    new = align_lists({key: price_rows(of) for key, of in prices.items()}, ROW_OF_ID, old)
    assert new.shared(("gold", 250)) is old.shared(("gold", 250))
    assert new.shared(("silver", 250)) is not old.shared(("silver", 250))


@pytest.mark.spec("2 Product", "costs are net, by the account's pricing, for one, five and ten units")
@pytest.mark.parametrize(("quantity", "cost"), [(1, 30), (4, 30), (5, 20), (9, 20), (10, 10), (11, 10), (100_000, 10)])
def test_price_breaks_begin_at_five_and_ten_units(quantity: int, cost: int) -> None:
    assert UnitCosts(30, 20, 10).at(quantity) == cost
