"""The shipping address decides tax, region and shipping methods (specification, tax; orders)."""

from typing import Any

import pytest

from support.orders import buy, confirm, create, read
from support.service import Customer, Service
from support.shop import ADDRESS, EUROPE, GERMAN_ADDRESS, METHODS, NEXT_DAY, STANDARD, order

HIGHLANDS, ISLANDS, IRELAND, IRISH_SEA = 21, 31, 61, 22


def method(method_id: int, region: int, *countries: str) -> dict[str, Any]:
    return {**METHODS[0], "id": method_id, "region": region, "countries": list(countries), "base_cost_net": 20}


BY_REGION = [
    method(HIGHLANDS, 2, "GB", "IM"),
    method(ISLANDS, 3, "JE", "GG", "IM"),
    method(IRELAND, 6, "IE"),
    method(IRISH_SEA, 9, "IE", "IM"),
]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    shop.must_load("shipping-methods", BY_REGION)
    return shop.customer()


def to(country: str) -> dict[str, str]:
    return {**ADDRESS, "country_code": country}


def method_ids(created: dict[str, Any]) -> set[int]:
    return {option["id"] for option in created["shipping_options"]}


@pytest.mark.parametrize("country", ["GB", "IM"])
def test_vat_is_charged_within_the_uk_and_the_isle_of_man(customer: Customer, country: str) -> None:
    created = create(customer, shipping_address=to(country))
    assert (created["cost_net"], created["cost_tax"], created["cost_gross"]) == (50.00, 10.00, 60.00)


@pytest.mark.parametrize("country", ["JE", "GG", "IE", "DE", "FR"])
def test_no_tax_is_charged_in_other_countries(customer: Customer, country: str) -> None:
    created = create(customer, shipping_address=to(country))
    assert (created["cost_net"], created["cost_tax"], created["cost_gross"]) == (50.00, 0.00, 50.00)


def test_tax_depends_on_the_shipping_address_not_on_the_billing_address(customer: Customer) -> None:
    abroad = create(customer, billing_address=ADDRESS, shipping_address=GERMAN_ADDRESS)
    at_home = create(customer, billing_address=GERMAN_ADDRESS, shipping_address=ADDRESS)
    assert (abroad["cost_tax"], at_home["cost_tax"]) == (0.00, 10.00)


@pytest.mark.spec("2 Order", "costs cover the items; shipping has its own")
@pytest.mark.parametrize(
    ("country", "method_id", "tax", "shipping_net", "shipping_tax"),
    [("GB", STANDARD, 10.00, 5.50, 1.10), ("JE", ISLANDS, 0.00, 20.50, 0.00), ("DE", EUROPE, 0.00, 20.00, 0.00)],
)
def test_items_and_shipping_of_a_confirmed_order_have_the_same_tax_rate(
    customer: Customer, country: str, method_id: int, tax: float, shipping_net: float, shipping_tax: float
) -> None:
    found = read(customer, buy(customer, method=method_id, shipping_address=to(country)))
    assert (found["cost_tax"], found["items"][0]["cost_tax"]) == (tax, tax)
    assert (found["shipping"][0]["cost_net"], found["shipping"][0]["cost_tax"]) == (shipping_net, shipping_tax)


@pytest.mark.spec("2 Order request", "without one, the region of the address's postcode or country, for GB else 1")
@pytest.mark.parametrize(
    ("country", "region", "methods"),
    [
        pytest.param("GB", 1, {STANDARD, NEXT_DAY}, id="GB is the mainland, although region 2 serves it too"),
        pytest.param("IM", 2, {HIGHLANDS}, id="the lowest of three regions"),
        pytest.param("JE", 3, {ISLANDS}, id="the only region"),
        pytest.param("IE", 6, {IRELAND}, id="the lower of two"),
        pytest.param("DE", 7, {EUROPE}, id="mainland Europe"),
    ],
)
def test_the_default_region_depends_on_the_country(
    customer: Customer, country: str, region: int, methods: set[int]
) -> None:
    created = create(customer, shipping_address=to(country))
    assert created["shipping_region"] == region
    assert method_ids(created) == methods


@pytest.mark.spec("2 Order request", "a region that is given is used")
@pytest.mark.parametrize(
    ("country", "region", "methods"),
    [("GB", 2, {HIGHLANDS}), ("GB", 1, {STANDARD, NEXT_DAY}), ("IM", 3, {ISLANDS}), ("IE", 9, {IRISH_SEA})],
)
def test_a_given_region_is_used_whatever_the_address(
    customer: Customer, country: str, region: int, methods: set[int]
) -> None:
    created = create(customer, shipping_address=to(country), shipping_region=region)
    assert created["shipping_region"] == region
    assert method_ids(created) == methods


@pytest.mark.parametrize("region", [0, -1, 4, 2**31, 2**70])
def test_an_unknown_region_is_rejected(customer: Customer, region: int) -> None:
    response = customer.post("/order", order(shipping_region=region))
    assert response.status_code == 400
    problem = f"region {region} does not exist; the regions are 1, 2, 3, 6, 7, 9"
    assert response.json()["message"] == f"shipping_region: {problem}"


@pytest.mark.parametrize(("country", "region"), [("GB", 3), ("DE", 1), ("JE", 2)])
def test_a_region_that_does_not_serve_the_country_is_rejected(customer: Customer, country: str, region: int) -> None:
    response = customer.post("/order", order(shipping_address=to(country), shipping_region=region))
    assert response.status_code == 400
    assert response.json()["message"].startswith(
        f"shipping_address: no shipping method takes 1 kg to {country} in region {region}"
    )


@pytest.mark.spec("2 Order request", "without one, the region of the address's postcode or country, for GB else 1")
def test_a_region_with_the_country_takes_precedence_over_the_mainland(own_shop: Service) -> None:
    own_shop.must_load("shipping-methods", BY_REGION)
    customer = own_shop.customer()
    assert create(customer)["shipping_region"] == 1
    own_shop.must_load("shipping-regions", [{"id": 2, "name": "Everywhere", "countries": ["GB"]}])
    assert create(customer)["shipping_region"] == 2
    own_shop.must_load("shipping-regions", [{"id": 3, "name": "Leeds", "postcodes": ["LS1"]}])
    assert create(customer, shipping_region=1)["shipping_region"] == 1
    without = customer.post("/order", order())
    assert (without.status_code, "region 3 (Leeds)" in without.json()["message"]) == (400, True)


def test_a_country_without_shipping_methods_is_rejected(customer: Customer) -> None:
    response = customer.post("/order", order(shipping_address=to("US")))
    assert response.status_code == 400
    problem = "we do not ship to US; the regions are 1, 2, 3, 6, 7, 9; request a quote instead (POST /quote)"
    assert response.json()["message"] == f"shipping_address.country_code: {problem}"


def test_the_billing_address_does_not_affect_shipping(customer: Customer) -> None:
    created = create(customer, billing_address=to("US"))
    assert created["shipping_region"] == 1


def test_a_retired_method_can_still_confirm_earlier_orders(own_shop: Service) -> None:
    own_shop.must_load("shipping-methods", BY_REGION)
    customer = own_shop.customer()
    pending = create(customer, shipping_address=to("IE"))
    in_use = [*METHODS, *(found for found in BY_REGION if found["id"] != IRELAND)]
    own_shop.must_load("shipping-methods", in_use, replace=True)
    later = create(customer, shipping_address=to("IE"))
    confirmed = confirm(customer, pending, IRELAND)
    assert method_ids(later) == {IRISH_SEA}
    assert confirmed.status_code == 200
