"""What a rule makes of a product's prices."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.prices.rules import Costs, How, PriceRule, Rounding


def costs(text: str) -> Costs:
    """The costs of 1, 5 and 10 units: `10 9 -`."""
    one, five, ten = (None if word == "-" else Decimal(word) for word in text.split())
    return one, five, ten


@pytest.mark.parametrize(
    ("how", "by", "rounding", "old", "new"),
    [
        ("raise_percent", "5", "penny", "10 9 8", "10.50 9.45 8.40"),
        ("raise_percent", "5", "penny", "10.10 - 9", "10.61 - 9.45"),  # 10.605 half up
        ("raise_percent", "0", "ninety_nine", "10.50 10.48 -", "10.99 9.99 -"),
        ("lower_percent", "12.5", "penny", "0.04 - -", "0.04 - -"),  # 0.035 half up
        ("lower_percent", "10", "ninety_five", "100 50 10", "89.95 44.95 8.95"),
        ("raise_amount", "0.01", "penny", "9.99 9 8.01", "10.00 9.01 8.02"),
        ("lower_amount", "3", "pound", "10.50 9.49 3.20", "8.00 6.00 1.00"),
        ("lower_amount", "3", "penny", "10 2 -", "7.00 -1.00 -"),
        ("raise_percent", "50", "ninety_nine", "0 - -", "0.00 - -"),
    ],
)
def test_a_rule_changes_each_break(how: How, by: str, rounding: Rounding, old: str, new: str) -> None:
    assert PriceRule(how, Decimal(by), rounding).costs(costs(old), None) == costs(new)


@pytest.mark.parametrize(
    ("by", "purchase", "old", "new"),
    [
        ("25", "30", "50 45 40", "40.00 36.00 32.00"),
        ("20", "10", "10 - 8", "12.50 - 10.00"),
        ("33.33", "10", "16 8 -", "15.00 7.50 -"),
        ("25", "30", "- - -", "40.00 - -"),
        ("25", "30", "0 0 0", "40.00 - -"),
        ("0", "9.99", "20 10 -", "9.99 5.00 -"),
    ],
)
def test_a_margin_sets_the_price_of_one_and_keeps_the_proportions(by: str, purchase: str, old: str, new: str) -> None:
    assert PriceRule("margin", Decimal(by)).costs(costs(old), Decimal(purchase)) == costs(new)


@pytest.mark.parametrize("purchase", [None, Decimal("0.00")])
def test_a_margin_needs_a_purchase_cost(purchase: Decimal | None) -> None:
    assert PriceRule("margin", Decimal(20)).costs(costs("10 9 8"), purchase) is None


def test_other_rules_need_a_price() -> None:
    assert PriceRule("raise_percent", Decimal(20)).costs(costs("- - -"), Decimal(5)) is None


pounds = st.decimals(0, 100_000, places=2)


@given(
    pounds,
    pounds,
    st.sampled_from(["raise_percent", "lower_percent", "raise_amount", "margin"]),
    st.decimals(0, 99, places=2),
    st.sampled_from(["penny", "pound", "ninety_five", "ninety_nine"]),
)
def test_no_rule_turns_the_order_of_breaks(one: Decimal, other: Decimal, how: How, by: Decimal, to: Rounding) -> None:
    single, five = max(one, other), min(one, other)
    found = PriceRule(how, by, to).costs((single, five, None), Decimal("12.34"))
    assert found is not None
    assert found[0] is not None
    assert found[1] is None or found[1] <= found[0]
    assert all(cost is None or cost == cost.quantize(Decimal("0.01")) for cost in found)
