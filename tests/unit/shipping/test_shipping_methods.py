"""Shipping methods for a parcel, and their costs (specification, shipping cost)."""

from datetime import time
from decimal import Decimal

import pytest

from tradecounter.shipping.rules import ShippingMethod, fitting_methods


def method(
    method_id: int = 1,
    *,
    region: int = 1,
    countries: tuple[str, ...] = ("GB",),
    heaviest: str = "30",
    base: str = "5.00",
    per_kg: str = "0.00",
) -> ShippingMethod:
    return ShippingMethod(
        method_id,
        "Van",
        "By van",
        region,
        frozenset(countries),
        Decimal(heaviest),
        Decimal(base),
        Decimal(per_kg),
        1,
        time(16, 0),
    )


@pytest.mark.parametrize(
    ("base", "per_kg", "weight", "cost"),
    [
        ("5.00", "0.50", "0", "5.00"),
        ("5.00", "0.50", "4.2", "7.10"),
        ("5.00", "0.33", "1.5", "5.50"),  # 5.495
        ("0.00", "0.10", "0.05", "0.01"),  # 0.005
        ("0.00", "0.10", "0.049", "0.00"),  # 0.0049
        ("0.00", "0.10", "0.25", "0.03"),  # 0.025: half goes up, not to the even penny
        ("0.00", "0.00", "30", "0.00"),
        ("4.99", "1.01", "29.999", "35.29"),  # 35.28899
    ],
)
def test_shipping_costs_the_base_and_the_weight_rounded_half_up(base: str, per_kg: str, weight: str, cost: str) -> None:
    assert str(method(base=base, per_kg=per_kg).cost(Decimal(weight))) == cost


@pytest.mark.parametrize(
    ("region", "country", "weight", "fits"),
    [
        pytest.param(1, "GB", "29.999", True, id="region, country and weight"),
        pytest.param(1, "GB", "30", True, id="exactly as heavy as possible"),
        pytest.param(1, "GB", "30.001", False, id="a gram too heavy"),
        pytest.param(2, "GB", "1", False, id="another region"),
        pytest.param(1, "DE", "1", False, id="another country"),
        pytest.param(1, "GB", "0", True, id="of unknown weight"),
    ],
)
def test_a_method_serves_its_region_its_countries_and_weights_up_to_its_limit(
    region: int, country: str, weight: str, *, fits: bool
) -> None:
    assert bool(fitting_methods([method()], region, country, Decimal(weight))) is fits


def test_fitting_methods_are_sorted_by_cost_for_the_weight() -> None:
    by_weight, flat, same = method(1, base="1.00", per_kg="1.00"), method(3, base="5.00"), method(2, base="5.00")
    found = [fitting_methods([flat, same, by_weight], 1, "GB", Decimal(kg)) for kg in (1, 9)]
    assert [[m.id for m in fitting] for fitting in found] == [[1, 2, 3], [2, 3, 1]]
