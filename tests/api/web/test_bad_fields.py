"""Every field of every body with every kind of wrong value: a 400 that names the field, and nothing is written."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.orders import create
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD, order
from support.written import written

NOT_TEXT = [5, 1.5, True, [], {}, ["x"], {"x": 1}]
NOT_AN_INTEGER = ["1", "", 1.5, 1e300, True, [], {}]
NOT_AN_OBJECT = [5, 1.5, True, "x", "", [], [{}]]
NOT_A_BOOLEAN = ["true", "", 0, 1, 1.5, [], {}]

ADDRESS_FIELDS: dict[str, list[Any]] = {
    **{field: [*NOT_TEXT, None, "", "  ", "\t\n", "x" * 201] for field in ("contact_name", "street_one", "city")},
    "zip": [*NOT_TEXT, None, "", " ", "x" * 21],
    "country_code": [
        *NOT_TEXT,
        None,
        "",
        "  ",
        "G",
        "GBR",
        "UK",
        "XX",
        "EU",
        "00",
        "\u212aR",
        "\uff27\uff22",
        "G\x01",
    ],
    **{field: [*NOT_TEXT, "x" * 201] for field in ("company_name", "street_two", "street_three", "state")},
    "contact_number": [*NOT_TEXT, "x", "  ", "0", "12", "+", "++44", "+44", "1" * 41, "+999 1234567", "call me"],
    "tax_number": [*NOT_TEXT, "x" * 41],
}

ORDER_FIELDS: dict[str, list[Any]] = {
    "customer_reference": [*NOT_TEXT, None, "", "  ", "x" * 101],
    "items": [5, True, "x", None, {}, [], [{"sku": "PHONE", "quantity": 1}] * 501],
    "items[0]": [5, True, "x", None, []],
    "items[1].sku": [*NOT_TEXT, None, "", "x" * 201, "UNKNOWN", "PH ONE"],
    "items[1].quantity": [*NOT_AN_INTEGER, None, 0, -1, 100_001, 10**30, -(10**30), 2**31, 2**63],
    "billing_address": [*NOT_AN_OBJECT, None],
    "shipping_address": [*NOT_AN_OBJECT, None],
    **{f"billing_address.{field}": values for field, values in ADDRESS_FIELDS.items()},
    **{f"shipping_address.{field}": values for field, values in ADDRESS_FIELDS.items()},
    "billing_address.id": [*NOT_AN_INTEGER, 0, -1, 1, 999_999_999, 2**63, 10**40],
    "shipping_address.id": [*NOT_AN_INTEGER, 0, -1, 1, 999_999_999, 2**63, 10**40],
    "shipping_method": NOT_AN_OBJECT,
    "shipping_method.id": [*NOT_AN_INTEGER, None, 0, -1, 999, 2**31, 10**40],
    "shipping_region": [*NOT_AN_INTEGER, 0, -1, 99, 2**31, 10**40],
    "external_customer_id": [*NOT_TEXT, "x" * 201],
    "order_notifications": NOT_AN_OBJECT,
    "order_notifications.email_address": [
        *NOT_TEXT, "", "x", "@", "a@", "@b", "a b@c", "a@b c", "a@b@c", "a@b.example\n", "a@b.example\r\nBcc: x",
        "x" * 250 + "@b.example", "a@b>", "a..b@c.example", "a@b..example", "a@[127.0.0.1]", "(a)@b.example",
        "a@" + "x" * 64 + ".example", "a@" + "ü" * 60 + ".example", "a@b\u2100.example", "a\u200b@b.example",
    ],
    "courier_notifications": NOT_AN_OBJECT,
    "courier_notifications.email_address": [*NOT_TEXT, "x", "\na@b.example", "a@b>", "a@" + "ü" * 60 + ".example"],
    "courier_notifications.phone_number": [*NOT_TEXT, "1" * 41],
    "auto_confirm": NOT_A_BOOLEAN,
}  # fmt: skip

REQUIRED = [
    "customer_reference", "items", "items[0].sku", "items[0].quantity", "billing_address", "shipping_address",
    *(f"{address}.{field}" for address in ("billing_address", "shipping_address")
      for field in ("contact_name", "street_one", "city", "zip", "country_code")),
]  # fmt: skip


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(autouse=True)
def nothing_written(shop: Service) -> Iterator[None]:
    before = written(shop)
    yield
    assert written(shop) == before


def full_order() -> dict[str, Any]:
    """Return a new valid order with every field."""
    body = order(
        [("PHONE", 1), ("CABLE", 2)],
        shipping_method={"id": STANDARD},
        shipping_region=1,
        external_customer_id="E-1",
        order_notifications={"email_address": "a@b.example", "phone_number": "1"},
        courier_notifications={"email_address": "a@b.example", "phone_number": "1"},
        auto_confirm=False,
    )
    copied: dict[str, Any] = json.loads(json.dumps(body))
    return copied


def steps(place: str) -> list[str | int]:
    parts = place.replace("[", ".").replace("]", "").split(".")
    return [int(part) if part.isdigit() else part for part in parts]


def changed(body: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    holder: Any = body
    *way, last = steps(place)
    for step in way:
        holder = holder[step]
    holder[last] = value
    return body


def without(body: dict[str, Any], place: str) -> dict[str, Any]:
    holder: Any = body
    *way, last = steps(place)
    for step in way:
        holder = holder[step]
    del holder[last]
    return body


def assert_names(response: httpx2.Response, place: str, value: Any) -> None:
    assert response.status_code == 400, (place, value, response.text)
    message = response.json()["message"]
    assert list(response.json()) == ["message", "code", "errors"]
    assert {error["code"] for error in response.json()["errors"]} == {response.json()["code"]}
    assert "; ".join(f"{error['field']}: {error['message']}" for error in response.json()["errors"]) == message
    assert message.startswith((f"{place}: ", f"{place}.", f"{place}[")), (place, value, message)
    assert len(message) < 600, "a message does not echo the whole value"


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("place", ORDER_FIELDS)
def test_a_wrong_value_in_an_order_is_rejected_by_its_path(customer: Customer, place: str) -> None:
    for value in ORDER_FIELDS[place]:
        assert_names(customer.post("/order", changed(full_order(), place, value)), place, value)


@pytest.mark.parametrize("place", REQUIRED)
def test_a_missing_field_of_an_order_is_named(customer: Customer, place: str) -> None:
    response = customer.post("/order", without(full_order(), place))
    assert (response.status_code, response.json()["message"]) == (400, f"{place}: is required")


@pytest.mark.sweep(every=3)
@pytest.mark.spec("4 POST /customer/address", "201 with the new id; bad data is 400")
@pytest.mark.spec("7 400", "invalid data on creation")
@pytest.mark.parametrize("field", ADDRESS_FIELDS)
def test_a_wrong_value_in_an_address_is_rejected_by_its_name(customer: Customer, field: str) -> None:
    for value in ADDRESS_FIELDS[field]:
        assert_names(customer.post("/customer/address", {**ADDRESS, field: value}), field, value)


@pytest.mark.spec("2 CustomerAddress", "the required fields are required")
@pytest.mark.parametrize("field", ["contact_name", "street_one", "city", "zip", "country_code"])
def test_a_missing_field_of_an_address_is_named(customer: Customer, field: str) -> None:
    response = customer.post("/customer/address", without({**ADDRESS}, field))
    assert (response.status_code, response.json()["message"]) == (400, f"{field}: is required")


@pytest.fixture(scope="module")
def waiting(shop: Service) -> tuple[Customer, str]:
    """A customer and the code of a pending order."""
    customer = shop.customer()
    return customer, create(customer)["confirmation_code"]


@pytest.mark.parametrize("place", ["shipping_method", "shipping_method.id"])
def test_a_wrong_value_in_a_confirmation_is_rejected_by_its_path(waiting: tuple[Customer, str], place: str) -> None:
    customer, code = waiting
    for value in ORDER_FIELDS[place]:
        body = changed({"shipping_method": {"id": STANDARD}}, place, value)
        assert_names(customer.put(f"/order/{code}", body), place, value)


def test_the_order_of_these_tests_fails_only_for_lack_of_credit(shop: Service) -> None:
    assert shop.customer(credit=None).post("/order", full_order()).status_code == 402
