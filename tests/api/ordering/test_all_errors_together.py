"""One response lists all errors of a body (specification, error body)."""

from typing import Any

import pytest

from support.service import Customer, Service
from support.shop import ADDRESS, order

PHONE = {"sku": "PHONE", "quantity": 1}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def errors_of(customer: Customer, **changes: Any) -> dict[str, str]:
    response = customer.post("/order", {**order(), **changes})
    assert response.status_code == 400, response.text
    errors = response.json()["errors"]
    assert response.json()["message"] == "; ".join(f"{error['field']}: {error['message']}" for error in errors)
    return {error["field"]: error["message"] for error in errors}


def test_all_broken_rules_are_listed(customer: Customer) -> None:
    found = errors_of(
        customer,
        customer_reference="  ",
        items=[PHONE, {"sku": "PHONES", "quantity": 1}, {"sku": "???", "quantity": 1}],
        billing_address={**ADDRESS, "country_code": "UK", "city": " "},
        shipping_address={"id": 999_999_999},
    )
    assert found == {
        "customer_reference": "must not be blank",
        "items[1].sku": "product 'PHONES' does not exist; did you mean PHONE?",
        "items[2].sku": "product '???' does not exist",
        "billing_address.city": "must not be blank",
        "billing_address.country_code": "'UK' is not an ISO 3166-1 alpha-2 country code; use GB",
        "shipping_address.id": "999999999 is not one of your addresses; GET /customer/address lists them",
    }


@pytest.mark.parametrize("further", [{}, {"shipping_region": "1"}], ids=["right types", "a wrong type"])
def test_what_a_quote_may_not_have_is_listed_with_the_other_errors(customer: Customer, further: dict[str, Any]) -> None:
    wrong = {"auto_confirm": True, "max_cost_gross": 5, "items": [{**PHONE, "max_unit_cost": 1.5}], **further}
    response = customer.post("/quote", {**order(), **wrong, "shipping_method": {"id": 7_777_777}})
    unwanted = ["auto_confirm", "items[0].max_unit_cost", "max_cost_gross"]
    assert [error["field"] for error in response.json()["errors"]] == [*further, *unwanted, "shipping_method.id"]


def test_what_a_quote_may_not_have_need_not_be_right(customer: Customer) -> None:
    wrong = {"max_cost_gross": -5, "items": [{**PHONE, "max_unit_cost": "1.50"}]}
    response = customer.post("/quote", {**order(), **wrong})
    assert [(error["field"], error["message"]) for error in response.json()["errors"]] == [
        (field, "must not be set on a quote: send max_cost_gross when you confirm the quote")
        for field in ("items[0].max_unit_cost", "max_cost_gross")
    ]


def test_wrong_types_do_not_hide_broken_rules(customer: Customer) -> None:
    found = errors_of(
        customer,
        items=[{"sku": "NO-SUCH", "quantity": "2", "max_unit_cost": -0.5}, {"quantity": 0}, 7],
        billing_address={"contact_name": 7, "country_code": "UK"},
        auto_confirm="yes",
        max_cost_gross=-1,
    )
    assert found == {
        "items[0].quantity": "must be a whole number, not text",
        "items[0].max_unit_cost": "must be an amount of pounds, 0 or more",
        "max_cost_gross": "must be an amount of pounds, 0 or more",
        "items[1].sku": "is required",
        "items[1].quantity": "must be at least 1",
        "items[2]": "must be an object, not a whole number",
        "auto_confirm": "must be true or false or null, not text",
        "items[0].sku": "product 'NO-SUCH' does not exist",
        "billing_address.contact_name": "must be text, not a whole number",
        "billing_address.street_one": "is required",
        "billing_address.city": "is required",
        "billing_address.zip": "is required",
        "billing_address.country_code": "'UK' is not an ISO 3166-1 alpha-2 country code; use GB",
    }


def test_an_address_of_the_wrong_type_is_listed_with_the_other_errors(customer: Customer) -> None:
    found = errors_of(customer, items=[], billing_address=5001, shipping_address={"id": "5001"})
    assert found == {
        "items": "must have at least 1 element",
        "billing_address": "must be an object, not a whole number",
        "shipping_address.id": "must be a whole number or null, not text",
    }
    assert errors_of(customer, items=[], shipping_address=None) == {
        "items": "must have at least 1 element",
        "shipping_address": "must be an object, not null",
    }


def test_at_most_twenty_errors_are_listed(customer: Customer) -> None:
    response = customer.post("/order", {**order(), "items": [{"sku": f"NO-{n}", "quantity": 1} for n in range(30)]})
    assert len(response.json()["errors"]) == 20
    assert response.json()["message"].endswith("; and 10 more")


@pytest.mark.parametrize("sku", ["phone ", "\tPhone"])
def test_white_space_around_a_sku_is_ignored(customer: Customer, sku: str) -> None:
    response = customer.post("/order", {**order(), "items": [{"sku": sku, "quantity": 1.0}]})
    assert response.status_code == 201, response.text
    assert [item["sku"] for item in response.json()["items"]] == ["PHONE"]


def test_all_errors_of_an_address_are_listed(customer: Customer) -> None:
    response = customer.post("/customer/address", {**ADDRESS, "city": "", "country_code": "ZZ", "state": 7})
    assert [error["field"] for error in response.json()["errors"]] == ["city", "state", "country_code"]


def test_a_sku_that_is_too_long_is_not_looked_up_or_echoed(customer: Customer) -> None:
    assert errors_of(customer, items=[{"sku": "X" * 100_000, "quantity": "2"}]) == {
        "items[0].sku": "must have at most 200 characters",
        "items[0].quantity": "must be a whole number, not text",
    }


def test_only_the_first_of_too_many_items_are_validated(customer: Customer) -> None:
    response = customer.post("/order", {**order(), "items": [{"sku": "NO", "quantity": 0}] * 20_000})
    assert response.status_code == 400
    assert response.json()["message"].startswith("items: must have at most 500 elements; items[0].quantity: ")
    assert response.json()["message"].endswith("; and 1481 more")  # 1,000 quantities and 500 SKUs
