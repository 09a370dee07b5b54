"""`GET /quote/{confirmation_code}`: a quote from request to order (specification, quote read back)."""

from datetime import timedelta
from typing import Any

import pytest

from support.error_bodies import error_body
from support.orders import confirm, create
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.reseller_wire import Cancellation


@pytest.fixture
def shop(own_shop: Service) -> Service:
    """The API for one test, because tests here move the clock."""
    return own_shop


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def read(customer: Customer, quote: dict[str, Any]) -> dict[str, Any]:
    response = customer.get(f"/quote/{quote['confirmation_code']}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_a_waiting_quote_equals_its_request(customer: Customer) -> None:
    requested = request_quote(customer)
    assert read(customer, requested) == {**requested, "status": "Waiting"}


def test_a_priced_quote_has_its_price_and_expiry(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "12.34"))
    found = read(customer, quote)
    assert (found["status"], found["cost_net"], found["items"][0]["cost_net"]) == ("Priced", 12.34, 12.34)
    assert found["expires_on"] == "2026-06-23T09:00:00"


def test_a_confirmed_quote_names_its_order(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "12.34"))
    confirmed = confirm(customer, quote).json()
    found = read(customer, quote)
    assert (found["status"], found["order_reference"]) == ("Ordered", confirmed["order_reference"])
    assert found["order_id"] == confirmed["order_id"]


def test_a_cancelled_quote_is_declined(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    shop.in_transaction(
        lambda tx: cancel_order(tx, quote["confirmation_code"], Cancellation("too cheap"), shop.clock.now())
    )
    assert read(customer, quote)["status"] == "Declined"


def test_foreign_quotes_orders_and_unknown_codes_are_not_found(shop: Service, customer: Customer) -> None:
    foreign = request_quote(shop.customer())["confirmation_code"]
    for code in (foreign, create(customer)["confirmation_code"], "unknown", "%00", "0" * 32):
        response = customer.get(f"/quote/{code}")
        wanted = "quote not found" if code == "%00" else f"quote {code} not found"
        assert (response.status_code, response.json()) == (404, error_body("not_found", wanted))


def test_a_priced_quote_expires(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "12.34"))
    shop.clock.advance(timedelta(days=7, seconds=1))
    assert read(customer, quote)["status"] == "Expired"
