"""Addresses in orders: in full, or by the id of a saved address (specification, section 2; addresses)."""

from typing import Any

import pytest

from support.orders import buy, confirm, create, rows
from support.service import Customer, Service
from support.shop import ADDRESS, order


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def saved(customer: Customer, **values: Any) -> dict[str, Any]:
    response = customer.post("/customer/address", {**ADDRESS, **values})
    assert response.status_code == 201, response.text
    address: dict[str, Any] = response.json()
    return address


def error_of(customer: Customer, **addresses: Any) -> str:
    response = customer.post("/order", order(**addresses))
    assert response.status_code == 400, response.text
    message: str = response.json()["message"]
    return message


def test_a_saved_address_is_used_by_its_id(customer: Customer) -> None:
    address = saved(customer, company_name="Depot", city="York")
    created = create(customer, billing_address={"id": address["id"]}, shipping_address={"id": address["id"]})
    assert created["billing_address"] == created["shipping_address"] == address


@pytest.mark.spec("2 Order request", "an address is full or saved; the id takes precedence")
def test_an_order_may_mix_a_saved_and_a_full_address(customer: Customer) -> None:
    address = saved(customer, city="York")
    created = create(customer, shipping_address={"id": address["id"]})
    assert created["billing_address"] == ADDRESS
    assert created["shipping_address"] == address


@pytest.mark.spec("2 Order request", "an address is full or saved; the id takes precedence")
@pytest.mark.parametrize(
    "details",
    [
        pytest.param({**ADDRESS, "city": "Elsewhere", "country_code": "DE"}, id="another address"),
        pytest.param({"country_code": "UK", "contact_number": "nonsense"}, id="an invalid address"),
        pytest.param({"city": 7, "zip": None, "street_one": ["no"]}, id="wrong types"),
    ],
)
def test_the_id_takes_precedence_and_the_details_are_not_validated(customer: Customer, details: dict[str, Any]) -> None:
    address = saved(customer)
    assert create(customer, shipping_address={**details, "id": address["id"]})["shipping_address"] == address


def test_an_id_of_null_is_ignored(customer: Customer) -> None:
    assert create(customer, billing_address={**ADDRESS, "id": None})["billing_address"] == ADDRESS
    assert error_of(customer, billing_address={"id": None}).startswith("billing_address.contact_name: is required; ")


@pytest.mark.parametrize("field", ["billing_address", "shipping_address"])
@pytest.mark.parametrize("address_id", [0, -1, 999_999_999, 2**63 - 1, 2**63, 2**70])
def test_an_unknown_id_is_rejected(customer: Customer, field: str, address_id: int) -> None:
    message = error_of(customer, **{field: {**ADDRESS, "id": address_id}})
    assert message == f"{field}.id: {address_id} is not one of your addresses; GET /customer/address lists them"


@pytest.mark.parametrize("address_id", ["5001", 1.5, True, [5001]])
def test_an_id_that_is_not_a_whole_number_is_rejected(customer: Customer, address_id: Any) -> None:
    message = error_of(customer, shipping_address={**ADDRESS, "id": address_id})
    assert message.startswith("shipping_address.id: must be a whole number or null")


def test_another_customers_address_is_rejected_like_an_unknown_one(shop: Service, customer: Customer) -> None:
    foreign = saved(shop.customer())["id"]
    assert error_of(customer, billing_address={"id": foreign}) == (
        f"billing_address.id: {foreign} is not one of your addresses; GET /customer/address lists them"
    )


def test_a_deleted_address_is_rejected_but_orders_keep_their_copy(shop: Service, customer: Customer) -> None:
    address = saved(customer, city="Whitby")
    by_id = {"id": address["id"]}
    pending = create(customer, shipping_address=by_id)
    placed = buy(customer, shipping_address=by_id)
    assert customer.delete(f"/customer/address/{address['id']}").status_code == 204

    assert error_of(customer, shipping_address=by_id) == (
        f"shipping_address.id: {address['id']} is not one of your addresses; GET /customer/address lists them"
    )
    confirmed = confirm(customer, pending)
    assert confirmed.status_code == 200
    assert confirmed.json()["shipping_address"] == address
    assert rows(shop, "select shipping_address ->> 'city' from orders where id = %s", placed["order_id"]) == [
        ("Whitby",)
    ]


def test_a_full_address_in_an_order_is_not_saved(shop: Service) -> None:
    customer = shop.customer()
    create(customer)
    assert customer.get("/customer/address").json() == []


@pytest.mark.spec("2 CustomerAddress", "the required fields are required")
@pytest.mark.parametrize("field", ["billing_address", "shipping_address"])
@pytest.mark.parametrize("name", ["contact_name", "street_one", "city", "zip", "country_code"])
def test_a_full_address_needs_its_required_fields(customer: Customer, field: str, name: str) -> None:
    without = {key: value for key, value in ADDRESS.items() if key != name}
    assert error_of(customer, **{field: without}) == f"{field}.{name}: is required"


@pytest.mark.parametrize("name", ["contact_name", "street_one", "city", "zip", "country_code"])
def test_a_required_field_must_not_be_blank(customer: Customer, name: str) -> None:
    assert error_of(customer, shipping_address={**ADDRESS, name: "  "}) == f"shipping_address.{name}: must not be blank"


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("UK", "; use GB"),
        ("EL", "; use GR"),
        ("uk", "; use GB"),
        ("ZZ", ""),
        ("XX", ""),
        ("XK", ""),
    ],
)
def test_a_wrong_country_code_is_rejected_with_a_hint_where_possible(customer: Customer, code: str, hint: str) -> None:
    message = error_of(customer, shipping_address={**ADDRESS, "country_code": code})
    assert message == f"shipping_address.country_code: {code.upper()!r} is not an ISO 3166-1 alpha-2 country code{hint}"


def test_a_lower_case_country_code_is_accepted(customer: Customer) -> None:
    created = create(customer, shipping_address={**ADDRESS, "country_code": "gb"})
    assert created["shipping_address"] == ADDRESS


@pytest.mark.parametrize("code", ["G", "GBR", ""])
def test_a_country_code_has_two_letters(customer: Customer, code: str) -> None:
    message = error_of(customer, billing_address={**ADDRESS, "country_code": code})
    assert message.startswith("billing_address.country_code: must ")


@pytest.mark.parametrize(
    ("country", "number"),
    [
        ("GB", "0113 496 0000"),
        ("GB", "+44 113 496 0000"),
        ("GB", "+353 1 234 5678"),
        ("JE", "01534 496000"),
        ("GG", "01481 960000"),
        ("IM", "01624 756000"),
        ("IE", "+353 1 234 5678"),
        ("DE", "+49 30 123456"),
        ("DE", "+44 113 496 0000"),
    ],
)
def test_a_possible_phone_number_is_accepted_and_kept_as_written(customer: Customer, country: str, number: str) -> None:
    billing = {**ADDRESS, "country_code": country, "contact_number": number}
    assert create(customer, billing_address=billing)["billing_address"] == billing


@pytest.mark.parametrize(("country", "number"), [("GB", "12"), ("GB", "no number"), ("DE", "+49 1"), ("JE", "x")])
def test_an_impossible_phone_number_is_rejected(customer: Customer, country: str, number: str) -> None:
    billing = {**ADDRESS, "country_code": country, "contact_number": number}
    assert error_of(customer, billing_address=billing).startswith(
        f"billing_address.contact_number: {number!r} is not a "
    )


@pytest.mark.parametrize(("country", "number"), [("DE", "030 123456"), ("IE", "01 234 5678"), ("FR", "01 23 45 67 89")])
def test_a_number_outside_the_uk_and_its_islands_must_be_international(
    customer: Customer, country: str, number: str
) -> None:
    billing = {**ADDRESS, "country_code": country, "contact_number": number}
    assert "in international format" in error_of(customer, billing_address=billing)


@pytest.mark.parametrize(
    ("name", "longest"), [("contact_name", 200), ("street_two", 200), ("zip", 20), ("contact_number", 40)]
)
def test_address_fields_have_maximum_lengths(customer: Customer, name: str, longest: int) -> None:
    message = error_of(customer, billing_address={**ADDRESS, name: "1" * (longest + 1)})
    assert message == f"billing_address.{name}: must have at most {longest} characters"


def test_a_postcode_of_another_country_is_accepted(customer: Customer) -> None:
    # The specification describes what a wrong country code leads to: wrong estimates, and perhaps a cancellation.
    created = create(customer, shipping_address={**ADDRESS, "zip": "12345"})
    assert created["shipping_region"] == 1
