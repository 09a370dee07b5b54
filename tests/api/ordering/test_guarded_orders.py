"""Guards of orders: what they may cost, and whether they may wait for stock (specification, orders asked for)."""

import json
from itertools import count
from typing import Any

import httpx2
import pytest

from support.orders import confirm, create, level, outstanding, rows, sell
from support.quotes import keyed, price_as_support, request_quote, was_replayed
from support.service import Customer, Service
from support.shop import STANDARD, order, price

_numbers = count(1)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def sku(shop: Service) -> str:
    """A product of which three are in stock; it costs 10.00, and from five units on 8.00."""
    name = sell(shop, f"GUARDED-{next(_numbers)}", available=3)
    shop.must_load("price-list", [price(name, 10, 8, 8)])
    return name


def guarded(sku: str, quantity: int = 1, most: Any = None, **values: Any) -> dict[str, Any]:
    """A request for an order of one line."""
    body = order([(sku, quantity)], **values)
    if most is not None:
        body["items"][0]["max_unit_cost"] = most
    return body


def orders_of(shop: Service, customer: Customer) -> int:
    [(found,)] = rows(shop, "select count(*) from orders where customer_id = %s", customer.id)
    return int(found)


def put(customer: Customer, pending: dict[str, Any], **body: Any) -> httpx2.Response:
    path = f"/order/{pending['confirmation_code']}"
    return customer.put(path, {"shipping_method": {"id": STANDARD}, **body})


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("most", "quantity"), [(10, 1), (10.00, 4), (10.001, 1), (8, 5), (1e30, 1)])
def test_a_price_up_to_the_most_is_accepted(customer: Customer, sku: str, most: Any, quantity: int) -> None:
    response = customer.post("/order", guarded(sku, quantity, most))
    assert response.status_code == 201, response.text
    assert response.json()["items"][0].keys() == {"id", "sku", "quantity", "cost_net"}


@pytest.mark.parametrize("text", ["10", "1_0", " 10 ", "NaN"])
def test_an_amount_in_quotation_marks_is_rejected_with_all_other_errors(
    customer: Customer, sku: str, text: str
) -> None:
    body = guarded(sku, 1, text, max_cost_gross=text)
    fields = ["items[0].max_unit_cost", "max_cost_gross"]
    errors = [{"field": field, "message": "must be a number, not text", "code": "invalid"} for field in fields]
    rejected = customer.post("/order", body)
    assert (rejected.status_code, rejected.json()["errors"]) == (400, errors)
    body["items"][0]["quantity"] = 0
    assert [each["field"] for each in customer.post("/order", body).json()["errors"]] == ["items[0].quantity", *fields]
    confirmed = put(customer, create(customer, [(sku, 1)]), max_cost_gross=text)
    assert (confirmed.status_code, confirmed.json()["errors"]) == (400, errors[1:])


def test_an_amount_in_quotation_marks_is_rejected_under_an_escaped_name(customer: Customer, sku: str) -> None:
    raw = json.dumps(guarded(sku, 1, "10")).replace("max_unit_cost", "max_unit\\u005fcost")
    response = customer.http.post("/order", content=raw, headers={"Content-Type": "application/json"})
    assert [each["field"] for each in response.json()["errors"]] == ["items[0].max_unit_cost"]


@pytest.mark.spec("2 Order request", "guards of prices (an addition)")
def test_a_higher_price_is_rejected_with_what_a_unit_costs_today(shop: Service, sku: str) -> None:
    customer = shop.customer()
    body = guarded(sku, 4, 9.99)
    body["items"].append({"sku": "PHONE", "quantity": 1})
    body["items"].append({"sku": sku, "quantity": 5, "max_unit_cost": 7.5})
    response = customer.post("/order", body)
    assert (response.status_code, response.json()["code"]) == (409, "price_changed")
    assert response.json()["errors"] == [
        {
            "field": f"items[{n}].max_unit_cost",
            "message": f"{sku} costs £{cost:.2f} each for {units}, more than £{most}",
            "code": "price_changed",
            "unit_cost": cost,
        }
        for n, units, cost, most in ((0, 4, 10.0, 9.99), (2, 5, 8.0, 7.5))
    ]
    assert orders_of(shop, customer) == 0


def test_the_sum_of_the_items_with_vat_is_guarded_without_shipping(shop: Service, sku: str) -> None:
    customer = shop.customer()
    assert customer.post("/order", guarded(sku, 2, max_cost_gross=24)).status_code == 201
    response = customer.post("/order", guarded(sku, 2, max_cost_gross=23.99))
    assert (response.status_code, response.json()["code"]) == (409, "price_changed")
    [error] = response.json()["errors"]
    assert error == {
        "field": "max_cost_gross",
        "message": "the items cost £24.00 with VAT, more than £23.99",
        "code": "price_changed",
    }


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("most", [-1, -0.01, "NaN", "sNaN", "Infinity", "-Infinity", "much", True, [], {}])
@pytest.mark.parametrize("field", ["items[0].max_unit_cost", "max_cost_gross"])
def test_a_wrong_amount_is_rejected_by_its_name(customer: Customer, sku: str, field: str, most: Any) -> None:
    values = {"max_cost_gross": most} if field == "max_cost_gross" else {"most": most}
    response = customer.post("/order", guarded(sku, **values))
    assert response.status_code == 400, response.text
    assert [error["field"] for error in response.json()["errors"]] == [field]


@pytest.mark.spec("2 Order request", "an order that must not wait for stock (an addition)")
def test_an_order_that_must_not_wait_is_rejected_when_something_is_missing(shop: Service, sku: str) -> None:
    customer = shop.customer()
    body = guarded(sku, 2, allow_back_orders=False)
    body["items"].append({"sku": sku, "quantity": 2})
    for confirmed in ({}, {"auto_confirm": True, "shipping_method": {"id": STANDARD}}):
        response = customer.post("/order", {**body, **confirmed})
        assert (response.status_code, response.json()["code"]) == (409, "out_of_stock")
        assert response.json()["errors"] == [
            {"field": f"items[{n}].quantity", "message": f"3 of {sku} are in stock, not 4", "code": "out_of_stock"}
            for n in (0, 1)
        ]
    assert (orders_of(shop, customer), level(shop, sku)) == (0, (3, 0, 0))
    assert outstanding(shop, customer) == 0


def test_what_is_in_stock_is_ordered_and_the_response_repeats_the_guard(customer: Customer, sku: str) -> None:
    pending = create(customer, [(sku, 3)], allow_back_orders=False)
    assert pending["allow_back_orders"] is False
    assert customer.get(f"/order/{pending['confirmation_code']}").json()["allow_back_orders"] is False
    assert confirm(customer, pending).json()["allow_back_orders"] is False
    assert "allow_back_orders" not in create(customer, [(sku, 3)], allow_back_orders=True)


@pytest.mark.spec("2 Order request", "an order that must not wait for stock (an addition)")
def test_the_guard_is_stored_and_counts_at_the_confirmation(shop: Service, sku: str) -> None:
    customer = shop.customer()
    pending = create(customer, [(sku, 3)], allow_back_orders=False)
    confirm(customer, create(customer, [(sku, 1)]))
    owed = outstanding(shop, customer)
    response = confirm(customer, pending)
    assert (response.status_code, response.json()["code"]) == (409, "out_of_stock")
    assert response.json()["message"] == f"items[0].quantity: 2 of {sku} are in stock, not 3"
    assert (level(shop, sku), outstanding(shop, customer)) == ((2, 1, 0), owed)
    assert customer.get(f"/order/{pending['confirmation_code']}").json()["status"] == "Pending"
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    placed = confirm(customer, pending)
    assert placed.status_code == 200
    assert confirm(customer, pending).json() == placed.json(), "another confirmation returns the same order"


def test_the_confirmation_may_say_otherwise(shop: Service, sku: str) -> None:
    customer = shop.customer()
    pending, other = create(customer, [(sku, 3)], allow_back_orders=False), create(customer, [(sku, 3)])
    confirm(customer, create(customer, [(sku, 1)]))
    assert put(customer, other, allow_back_orders=False).status_code == 409
    assert put(customer, pending, allow_back_orders=True).status_code == 200
    assert level(shop, sku) == (0, 3, 1)


def test_a_confirmation_guards_the_sum(shop: Service, sku: str) -> None:
    customer = shop.customer()
    pending = create(customer, [(sku, 2)])
    response = put(customer, pending, max_cost_gross=23.99)
    assert (response.status_code, response.json()["code"]) == (409, "price_changed")
    assert put(customer, pending, max_cost_gross="NaN").status_code == 400
    assert put(customer, pending, max_cost_gross=24, items="ignored").status_code == 200


@pytest.mark.spec("2 Order request", "guards of prices (an addition)")
def test_a_quote_is_guarded_when_it_is_confirmed(shop: Service, sku: str) -> None:
    customer = shop.customer()
    for body, field in (
        (guarded(sku, 1, 5), "items[0].max_unit_cost"),
        (guarded(sku, 1, max_cost_gross=5), "max_cost_gross"),
    ):
        response = customer.post("/quote", body)
        assert (response.status_code, response.json()["errors"][0]["field"]) == (400, field)
    quote = request_quote(customer, [(sku, 5)], allow_back_orders=False)
    assert quote["allow_back_orders"] is False
    price_as_support(shop, quote, (sku, "7.00"))
    assert put(customer, quote).json()["code"] == "out_of_stock"
    shop.must_load("stock", [{"sku": sku, "available": 5}])
    assert put(customer, quote, max_cost_gross=41.99).json()["code"] == "price_changed"
    assert put(customer, quote, max_cost_gross=42).status_code == 200


def test_a_repetition_gets_the_first_response_whatever_has_changed(shop: Service, sku: str) -> None:
    customer = shop.customer()
    body = guarded(sku, 3, 10, allow_back_orders=False, max_cost_gross=36)
    first = keyed(customer, "guarded", body)
    assert first.status_code == 201
    shop.must_load("price-list", [price(sku, 11)])
    shop.must_load("stock", [{"sku": sku, "available": 0}])
    again = keyed(customer, "guarded", body)
    assert (again.content, was_replayed(again)) == (first.content, True)
    assert keyed(customer, "other", body).status_code == 409
    shop.must_load("price-list", [price(sku, 10)])
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    assert keyed(customer, "other", body).status_code == 201, "a failed request leaves its key unused"
