"""Which prices may be slips, and how much a price changes."""

from decimal import Decimal

import pytest
from msgspec import UNSET

from tradecounter.bulk.price_figures import largest_change
from tradecounter.prices.importing import imported_suspicion, suspicion


def pounds(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


@pytest.mark.parametrize(
    ("price", "before", "purchase", "why"),
    [
        ("49.99", "100", None, "is more than half off its price of £100.00"),
        ("50.00", "100", None, None),
        ("60", "100", "60", None),
        ("59.99", "100", "60", "is below its purchase cost of £60.00"),
        ("10", "100", "60", "is below its purchase cost of £60.00"),
        ("60", "60", "70", None),  # it was below cost before
        ("65", "60", "70", None),  # it rises
        ("59", "60", "70", "is below its purchase cost of £70.00"),
        ("0", "0.01", None, "is more than half off its price of £0.01"),
        ("5", None, "6", "is below its purchase cost of £6.00"),
        ("5", None, "5", None),
        ("5", None, None, None),
        ("0", None, None, None),
    ],
)
def test_a_price_may_be_a_slip(price: str, before: str | None, purchase: str | None, why: str | None) -> None:
    assert suspicion(Decimal(price), pounds(before), pounds(purchase)) == why


@pytest.mark.parametrize(
    ("price", "before", "why"),
    [
        ("0", "100", "is free of charge"),
        ("0.00", None, "is free of charge"),
        ("0", "0", None),
        ("0.01", "100", "is more than half off its price of £100.00"),
        ("100", "0", None),
    ],
)
def test_an_imported_price_of_0_may_stand_for_a_price_on_request(price: str, before: str | None, why: str) -> None:
    assert imported_suspicion(Decimal(price), pounds(before), None) == why


def costs(single: str, five: str | None = None, ten: str | None = None) -> dict[str, Decimal | None]:
    given = {"single_unit_cost": single, "five_plus_unit_cost": five, "ten_plus_unit_cost": ten}
    return {name: pounds(cost) for name, cost in given.items()}


@pytest.mark.parametrize(
    ("before", "after", "percent"),
    [
        (costs("100"), costs("90"), "-10.00"),
        (costs("100", "90"), costs("101", "45"), "-50.00"),
        (costs("100", "50"), costs("100"), "100.00"),  # the break is gone
        (costs("100"), costs("100", "50"), "-50.00"),
        (costs("3"), costs("4"), "33.33"),
        (costs("100"), costs("0"), "-100.00"),
    ],
)
def test_the_change_of_a_price_is_that_of_the_break_that_changes_most(
    before: dict[str, Decimal], after: dict[str, Decimal], percent: str
) -> None:
    assert largest_change(before, after) == Decimal(percent)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, costs("5")),
        (costs("5"), None),
        (costs("0"), costs("5")),  # how much more is that?
        (costs("5"), costs("5", "5")),
        ({"available": 5}, {"available": 6}),
    ],
)
def test_what_is_new_gone_equal_or_no_price_has_no_change(
    before: dict[str, Decimal], after: dict[str, Decimal]
) -> None:
    assert largest_change(before, after) is UNSET
