"""The region of an address (specification, shipping regions)."""

from datetime import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.shipping.rules import Region, Regions, ShippingMethod


def method(region: int, *countries: str) -> ShippingMethod:
    cost = Decimal(5)
    return ShippingMethod(region, "Van", "By van", region, frozenset(countries), cost, cost, cost, 1, time(16, 0))


def region(number: int, name: str = "", *, countries: str = "", postcodes: str = "") -> Region:
    return Region(number, name, frozenset(countries.split()), frozenset(postcodes.split()))


MAINLAND = region(1, "UK mainland", countries="GB")
NORTH = region(2, "Highlands and islands", postcodes="IV KW ZE PH19 EC1")
ORKNEY = region(8, "Orkney", postcodes="KW15 KW16 KW17")
IRELAND = region(3, "Northern Ireland", postcodes="BT")
MAN = region(4, "Isle of Man", countries="IM", postcodes="IM")
ALL = Regions([MAINLAND, NORTH, IRELAND, MAN, ORKNEY], [method(7, "DE", "FR"), method(9, "FR", "IM")])


@pytest.mark.parametrize(
    ("postcode", "number"),
    [
        ("BT1 1AA", 3),
        ("bt1 1aa", 3),
        ("BT11AA", 3),
        ("  BT 1 1AA ", 3),
        ("BT1", 3),
        ("B1 1AA", 1),
        ("B11 1AA", 1),
        ("LS1 1AA", 1),
        ("IV27 4HH", 2),
        ("KW1 5AB", 2),
        ("KW15AB", 2),
        ("KW15 1AB", 8),
        ("KW151AB", 8),
        ("KW-15-1AB", 8),
        ("KW15", 8),
        ("KW1", 2),
        ("PH19 1AA", 2),
        ("PH1 9AA", 1),
        ("PH2 0AA", 1),
        ("EC1A 1BB", 2),
        ("EC1 1BB", 2),
        ("EC10 1BB", 1),
        ("E1 1BB", 1),
        ("", 1),
        ("?", 1),
        ("KW", 1),
        ("12345", 1),
    ],
)
def test_the_smallest_matching_postcode_area_determines_the_region(postcode: str, number: int) -> None:
    assert ALL.of_address("GB", postcode) == number


@pytest.mark.parametrize(
    ("country", "postcode", "number"),
    [
        pytest.param("IM", "IM1 1AA", 4, id="by the country"),
        pytest.param("GB", "IM1 1AA", 4, id="by the postcode, though the country is another region's"),
        pytest.param("DE", "BT1 1AA", 7, id="postcodes abroad mean something else"),
        pytest.param("FR", "75001", 7, id="the lowest region whose methods go there"),
        pytest.param("US", "10001", None, id="nobody goes there"),
    ],
)
def test_postcodes_take_precedence_over_countries_and_countries_over_methods(
    country: str, postcode: str, number: int | None
) -> None:
    assert ALL.of_address(country, postcode) == number


def test_gb_is_the_mainland_even_if_methods_of_other_regions_serve_it() -> None:
    assert Regions((), [method(2, "GB")]).of_address("GB", "LS1 1AA") == 1
    assert Regions((), ()).of_address("GB", "LS1 1AA") == 1


def test_gb_is_the_lowest_region_that_lists_gb() -> None:
    assert Regions([region(5, countries="GB"), region(6, countries="GB")], ()).of_address("GB", "LS1 1AA") == 5


def test_a_region_that_only_methods_name_exists() -> None:
    assert str(ALL.get(7)) == "7"
    assert ALL.get(5) is None


def test_regions_are_listed_with_their_names_in_order() -> None:
    assert str(ALL) == (
        "1 (UK mainland), 2 (Highlands and islands), 3 (Northern Ireland), 4 (Isle of Man), 7, 8 (Orkney), 9"
    )


@given(st.text(max_size=20))
def test_every_postcode_has_a_region(postcode: str) -> None:
    assert ALL.of_address("GB", postcode) in {1, 2, 3, 4, 8}
