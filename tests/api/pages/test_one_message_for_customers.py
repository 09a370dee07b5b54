"""A wrong value gets one message in the customers' API and on the page of the account, at the field that each has."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from support.orders import buy, create
from support.pages import Person, beside, customer_user
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, stock_shop
from support.shop import order as order_of


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    stock_shop(service)
    return service.customer()


@pytest.fixture(scope="module")
def ada(service: Service, customer: Customer) -> Iterator[Person]:
    person = customer_user(service, customer.id)
    yield person
    person.http.close()


Made = Callable[[Service, Customer], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """One fault: what is sent to both doors, and what the field is called there.

    `of` makes what it is about, whose members stand in braces in the paths.
    """

    message: str
    of: Made
    path: str
    body: Callable[[dict[str, Any]], dict[str, Any]]
    field: str
    page: str
    form: Callable[[dict[str, Any]], dict[str, Any]]
    name: str
    form_id: str = "form"
    method: str = "POST"  # of the API


def nothing(_service: Service, _customer: Customer) -> dict[str, Any]:
    return {}


def placed(_service: Service, customer: Customer) -> dict[str, Any]:
    return buy(customer, [("PHONE", 2)])


def priced(service: Service, customer: Customer) -> dict[str, Any]:
    quote = request_quote(customer, [("PHONE", 2)])
    price_as_support(service, quote, ("PHONE", "10"))
    return quote


def saved(_service: Service, customer: Customer) -> dict[str, Any]:
    made: dict[str, Any] = customer.post("/customer/address", ADDRESS).json()
    return made


def pending(_service: Service, customer: Customer) -> dict[str, Any]:
    return create(customer)


def wrong_address(message: str, name: str, value: str) -> Case:
    body = {**ADDRESS, name: value}
    return Case(message, nothing, "/customer/address", lambda _: body, name, "/address/new", lambda _: body, name)


def wrong_order(message: str, body: dict[str, Any], field: str, form: dict[str, str], name: str) -> Case:
    typed = {
        "items-0-sku": "PHONE",
        "items-0-quantity": "1",
        "do": "order",
        "customer_reference": "PO-1",
        "billing_address-id": "same",
        **{f"shipping_address-{part}": str(value) for part, value in ADDRESS.items()},
        **form,
    }
    return Case(
        message, nothing, "/order", lambda _: order_of() | body, field, "/new-order", lambda _: typed, name, "order"
    )


CASES = [
    wrong_address("use GB", "country_code", "UK"),
    wrong_address("20 characters", "zip", "1" * 21),
    wrong_address("200 characters", "street_two", "x" * 201),
    wrong_address("", "contact_number", "12"),
    wrong_order(
        "100000", {"items": [{"sku": "PHONE", "quantity": 100_001}]}, "items[0].quantity",
        {"items-0-quantity": "100001"}, "items-0-quantity",
    ),
    wrong_order(
        "", {"items": [{"sku": "NO SUCH", "quantity": 1}]}, "items[0].sku", {"items-0-sku": "NO SUCH"}, "items-0-sku"
    ),
    wrong_order("characters", {"customer_reference": "x" * 201}, "customer_reference",
                {"customer_reference": "x" * 201}, "customer_reference"),
    Case(
        "characters",
        placed,
        "/request",
        lambda made: {"kind": "message", "order_reference": made["order_reference"], "text": "x" * 5_001},
        "text",
        "/order/{order_reference}/ask/message",
        lambda _: {"text": "x" * 5_001},
        "text",
    ),
    Case(
        "PHONE",
        placed,
        "/request",
        lambda made: {
            "kind": "cancel",
            "order_reference": made["order_reference"],
            "items": [{"id": made["items"][0]["id"], "quantity": 3}],
        },
        "items[0].quantity",
        "/order/{order_reference}/ask/cancel",
        lambda made: {"items-0-id": made["items"][0]["id"], "items-0-quantity": "3"},
        "items-0-quantity",
    ),
    Case(
        "characters",
        priced,
        "/quote/{confirmation_code}/decline",
        lambda _: {"reason": "x" * 1_001},
        "reason",
        "/quote/{confirmation_code}/decline",
        lambda _: {"reason": "x" * 1_001},
        "reason",
    ),
    Case(
        "use GB",
        saved,
        "/customer/address/{id}",
        lambda _: ADDRESS | {"country_code": "UK"},
        "country_code",
        "/address/{id}",
        lambda _: ADDRESS | {"country_code": "UK"},
        "country_code",
        method="PUT",
    ),
    *(
        Case(
            "99 is not among the shipping options",
            of,
            "/order/{confirmation_code}",
            lambda _: {"shipping_method": {"id": 99}},
            "shipping_method.id",
            page,
            lambda _: {"shipping_method": "99"},
            "shipping_method",
            form_id,
            "PUT",
        )
        for of, page, form_id in (
            (pending, "/new-order/{confirmation_code}", "confirm"),
            (priced, "/quote/{confirmation_code}", "accept"),
        )
    ),
    replace(
        wrong_order("", {"items": [{"sku": "NO SUCH", "quantity": 1}]}, "items[0].sku",
                    {"items-0-sku": "NO SUCH", "do": "quote"}, "items-0-sku"),
        path="/quote",
    ),
    wrong_order(
        "must be an e-mail address",
        {"order_notifications": {"email_address": "nobody"}},
        "order_notifications.email_address",
        {"order_notifications-email_address": "nobody"},
        "order_notifications-email_address",
    ),
]  # fmt: skip


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path} {case.field}")
def test_a_fault_has_one_message_in_the_api_and_on_the_page(
    case: Case, service: Service, customer: Customer, ada: Person
) -> None:
    made = case.of(service, customer)
    response = customer.http.request(case.method, case.path.format(**made), json=case.body(made))
    assert response.status_code == 400, response.text
    [error] = response.json()["errors"]
    assert error["field"] == case.field, error
    assert case.message in error["message"]
    shown = ada.send("/account" + case.page.format(**made), case.form(made))
    assert shown.status_code == 400
    assert beside(shown, case.name, case.form_id) == error["message"]
