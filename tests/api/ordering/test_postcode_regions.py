"""Shipping regions with names and postcodes, and their error messages (specification, shipping regions)."""

from typing import Any

import pytest

from support.orders import create
from support.service import Customer, Service
from support.shop import ADDRESS, METHODS, order

NORTH, BELFAST, MAN = 21, 31, 41

REGIONS: list[dict[str, Any]] = [
    {"id": 1, "name": "UK mainland", "countries": ["GB"]},
    {"id": 2, "name": "Highlands and islands", "postcodes": ["IV", "KW15"]},
    {"id": 3, "name": "Northern Ireland", "postcodes": ["BT"]},
    {"id": 4, "name": "Isle of Man", "countries": ["IM"], "postcodes": ["IM"]},
]


def method(method_id: int, region: int, country: str) -> dict[str, Any]:
    return {**METHODS[0], "id": method_id, "region": region, "countries": [country], "description": f"To {region}"}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    shop.must_load("shipping-methods", [method(NORTH, 2, "GB"), method(BELFAST, 3, "GB"), method(MAN, 4, "IM")])
    shop.must_load("shipping-regions", REGIONS)
    return shop.customer()


def to(postcode: str, country: str = "GB") -> dict[str, str]:
    return {**ADDRESS, "zip": postcode, "country_code": country}


@pytest.mark.spec("2 Order request", "without one, the region of the address's postcode or country, for GB else 1")
@pytest.mark.parametrize(
    ("postcode", "country", "region"),
    [
        ("BT1 1AA", "GB", 3),
        ("bt11aa", "GB", 3),
        ("B1 1AA", "GB", 1),
        ("KW15 1AB", "GB", 2),
        ("KW1 5AB", "GB", 1),
        ("IV1 1AA", "GB", 2),
        ("IM1 1AA", "IM", 4),
        ("20095", "DE", 7),
    ],
)
def test_the_postcode_decides_the_region_and_the_options(
    customer: Customer, postcode: str, country: str, region: int
) -> None:
    created = create(customer, shipping_address=to(postcode, country))
    assert created["shipping_region"] == region
    ids = {option["id"] for option in created["shipping_options"]}
    assert ids == {1: {11, 12}, 2: {NORTH}, 3: {BELFAST}, 4: {MAN}, 7: {71}}[region]


def test_a_saved_address_is_in_the_region_of_its_postcode_too(customer: Customer) -> None:
    saved = customer.post("/customer/address", to("BT1 1AA")).json()
    assert create(customer, shipping_address={"id": saved["id"]})["shipping_region"] == 3


def test_a_given_region_takes_precedence_over_the_postcode(customer: Customer) -> None:
    assert create(customer, shipping_address=to("BT1 1AA"), shipping_region=2)["shipping_region"] == 2


def test_an_unknown_region_is_rejected_with_the_known_regions(customer: Customer) -> None:
    response = customer.post("/order", order(shipping_region=5))
    assert response.status_code == 400
    assert response.json()["message"] == (
        "shipping_region: region 5 does not exist; the regions are 1 (UK mainland), 2 (Highlands and islands), "
        "3 (Northern Ireland), 4 (Isle of Man), 7"
    )


def test_a_region_that_does_not_serve_the_country_is_named_in_the_error(customer: Customer) -> None:
    response = customer.post("/order", order(shipping_address=to("20095", "DE"), shipping_region=3))
    assert response.status_code == 400
    assert response.json()["message"].startswith(
        "shipping_address: no shipping method takes 1 kg to DE in region 3 (Northern Ireland), "
        "whose methods deliver to GB; the regions are 1 (UK mainland)"
    )


def test_the_error_for_a_too_heavy_parcel_lists_the_methods_limits(customer: Customer) -> None:
    response = customer.post("/order", order([("PHONE", 31)], shipping_address=to("BT1 1AA")))
    assert response.status_code == 400
    assert response.json()["message"] == (
        "shipping_address: no shipping method takes 31 kg to GB in region 3 (Northern Ireland): "
        "Slowpost To 3 takes 30 kg; request a quote instead (POST /quote)"
    )


def test_a_method_of_another_region_is_rejected_with_the_options(customer: Customer) -> None:
    response = customer.post("/order", order(shipping_address=to("BT1 1AA"), shipping_method={"id": 11}))
    assert response.status_code == 400
    assert response.json()["message"] == (
        "shipping_method.id: 11 is not among the shipping options: 31 (Slowpost, To 3)"
    )


def test_imported_regions_apply_without_a_restart(shop: Service, customer: Customer) -> None:
    shop.must_load("shipping-regions", [{"id": 2, "postcodes": ["IV", "KW15", "LS"]}])
    assert create(customer)["shipping_region"] == 2
    shop.must_load("shipping-regions", REGIONS)
    assert create(customer)["shipping_region"] == 1


def test_a_removed_region_is_known_only_by_its_methods(shop: Service, customer: Customer) -> None:
    shop.must_load("shipping-regions", REGIONS[:2], replace=True)
    assert create(customer, shipping_address=to("BT1 1AA"))["shipping_region"] == 1
    assert create(customer, shipping_address=to("BT1 1AA"), shipping_region=3)["shipping_region"] == 3
    shop.must_load("shipping-regions", REGIONS)


def test_an_island_address_in_gb_is_rejected_with_the_islands_country(customer: Customer) -> None:
    rejected = customer.post("/order", order(shipping_address=to("IM1 1AA")))
    assert rejected.status_code == 400
    assert "in region 4 (Isle of Man), whose methods deliver to IM" in rejected.json()["message"]
