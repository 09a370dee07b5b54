"""Explained prices: the same price as in the catalogue, with the rule that determines it."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.arrays import contract_rows, price_rows
from tradecounter.customers.queries.terms import CustomerTerms
from tradecounter.kit.money import from_pence
from tradecounter.prices.explain_price import Buyer, ExplainedPrice, explain_price
from tradecounter.prices.price_book import PriceBook, align_contracts, align_lists
from tradecounter.prices.queries.prices_of_products import ContractPrice, ListPrice
from tradecounter.products.columns.lookups import RowOfId

TODAY = date(2026, 6, 16)
PRODUCT = 10

Pence = tuple[int, int | None, int | None]


def pounds(pence: int | None) -> Decimal | None:
    return None if pence is None else from_pence(pence)


def contract(cost: int, start: int | None = None, end: int | None = None, *breaks: int | None) -> ContractPrice:
    """Return a contract price in pence; its first and last day are relative to today."""
    days = [None if day is None else TODAY + timedelta(days=day) for day in (start, end)]
    five, ten = (pounds(b) for b in (*breaks, None, None)[:2])
    return ContractPrice(1, days[0], days[1], from_pence(cost), five, ten)


def listed(key: str, cost: int, *breaks: int | None) -> ListPrice:
    five, ten = (pounds(b) for b in (*breaks, None, None)[:2])
    return ListPrice(key, from_pence(cost), five, ten)


def explained(
    *prices: ContractPrice | ListPrice, own: str | None = None, discount: str = "0.00", quantity: int = 1
) -> ExplainedPrice:
    contracts = [price for price in prices if isinstance(price, ContractPrice)]
    lists = [price for price in prices if isinstance(price, ListPrice)]
    return explain_price("PHONE", Buyer(1, own, Decimal(discount)), quantity, contracts, lists, TODAY)


def whole(price: ContractPrice | ListPrice) -> tuple[int, int, int]:
    """Return pence by break; a missing break has the price of the next lower break, as in the database."""
    single = int(price.single_unit_cost * 100)
    five = single if price.five_plus_unit_cost is None else int(price.five_plus_unit_cost * 100)
    return single, five, five if price.ten_plus_unit_cost is None else int(price.ten_plus_unit_cost * 100)


costs = st.tuples(st.integers(0, 99_999), *[st.none() | st.integers(0, 99_999)] * 2)
periods = st.lists(
    st.tuples(st.none() | st.integers(-3, 3), st.none() | st.integers(3, 6) | st.integers(-3, -1), costs),
    max_size=4,
    unique_by=lambda period: period[0],
)


@given(
    periods=periods,
    lists=st.dictionaries(st.sampled_from(["default", "gold"]), costs),
    own=st.sampled_from([None, "default", "gold", "empty"]),
    discount=st.integers(0, 10_000),
    quantity=st.integers(1, 12),
)
def test_the_explained_price_equals_the_catalogues_price(
    periods: list[tuple[int | None, int | None, Pence]],
    lists: dict[str, Pence],
    own: str | None,
    discount: int,
    quantity: int,
) -> None:
    contracts = [
        contract(cost, start, end, *breaks)
        for start, end, (cost, *breaks) in periods
        if start is None or end is None or start <= end
    ]
    contracts.sort(key=lambda price: price.valid_from or date.min, reverse=True)
    prices = [listed(key, cost, *breaks) for key, (cost, *breaks) in lists.items()]
    row_of_id = RowOfId.of([PRODUCT])
    book = PriceBook(
        align_lists(
            {p.price_list: price_rows({PRODUCT: whole(p)}) for p in prices} | {"empty": price_rows({})}, row_of_id
        ),
        align_contracts(
            contract_rows(*((1, PRODUCT, whole(p), p.valid_from, p.valid_until) for p in contracts)), row_of_id
        ),
    )
    shown = book.vector(CustomerTerms(1, own, discount, trade_account=False), TODAY).unit_costs(0)
    found = explained(*contracts, *prices, own=own, discount=str(Decimal(discount).scaleb(-2)), quantity=quantity)
    assert found.unit_cost == (None if shown is None else from_pence(shown.at(quantity)))
    applying = [candidate for candidate in found.candidates if candidate.applies]
    assert found.rule == (applying[0].rule if applying else None)


def test_a_contract_price_takes_precedence_and_is_not_discounted() -> None:
    found = explained(contract(4000), listed("gold", 5000), listed("default", 6000), own="gold", discount="10.00")
    assert (found.rule, found.unit_cost, found.discount) == ("contract", Decimal("40.00"), Decimal("0.00"))
    assert [(c.rule, c.price_list, c.applies, c.why) for c in found.candidates] == [
        ("contract", None, True, "a contract price that is valid today"),
        ("price_list", "gold", True, "a contract price takes precedence"),
        ("default", "default", True, "a contract price takes precedence"),
    ]


def test_contract_prices_of_other_days_do_not_apply() -> None:
    found = explained(contract(4000, 1), contract(4100, -9, -1), listed("default", 6000))
    assert (found.rule, found.unit_cost) == ("default", Decimal("60.00"))
    assert [(c.applies, c.why) for c in found.candidates] == [
        (False, "valid from 2026-06-17"),
        (False, "valid until 2026-06-15"),
        (True, "the customer has no price list"),
    ]


def test_the_contract_price_with_the_latest_first_day_takes_precedence() -> None:
    found = explained(contract(4000, 0), contract(4100, -9))
    assert found.unit_cost == Decimal("40.00")
    assert [c.why for c in found.candidates[:2]] == [
        "a contract price that is valid today",
        "a contract price with a later first day takes precedence",
    ]


def test_a_product_missing_from_the_list_has_the_default_lists_price() -> None:
    found = explained(listed("default", 6000), own="gold", discount="2.50")
    assert (found.rule, found.unit_cost, found.discount) == ("default", Decimal("58.50"), Decimal("2.50"))
    assert [(c.price_list, c.applies, c.why) for c in found.candidates] == [
        ("gold", False, "the list has no price for this product"),
        ("default", True, "the customer's price list has no price for this product"),
    ]


def test_a_product_without_prices_has_no_unit_cost() -> None:
    found = explained(own="gold", discount="2.50")
    assert (found.rule, found.unit_cost, found.discount) == (None, None, Decimal("0.00"))
    assert [c.applies for c in found.candidates] == [False, False]


@pytest.mark.parametrize(
    ("quantity", "tier", "cost"),
    [(1, 1, "50.00"), (4, 1, "50.00"), (5, 5, "50.00"), (9, 5, "50.00"), (10, 10, "40.00"), (99, 10, "40.00")],
)
def test_a_missing_break_has_the_price_of_the_next_lower_break(quantity: int, tier: int, cost: str) -> None:
    found = explained(listed("default", 5000, None, 4000), quantity=quantity)
    assert (found.break_, found.unit_cost) == (tier, Decimal(cost))
