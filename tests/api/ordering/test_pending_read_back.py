"""`GET /order/{confirmation_code}`: a pending order is read back as it was created (specification, pending order)."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from support.error_bodies import error_body
from support.orders import at, buy, cancel, confirm, create, outstanding, read, rows, sell
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import GERMAN_ADDRESS, NEXT_DAY, STANDARD
from tradecounter.orders.cancel_order import expire_orders

A_DAY = timedelta(hours=24)
ONE_SECOND = timedelta(seconds=1)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def by_code(customer: Customer, created: dict[str, Any]) -> dict[str, Any]:
    response = customer.get(f"/order/{created['confirmation_code']}")
    assert response.status_code == 200, response.text
    return dict(response.json())


CONTACT = {"order_notifications": {"email_address": "a@b.example"}, "external_customer_id": "END-1"}


@pytest.mark.parametrize("values", [{}, CONTACT, {"shipping_method": {"id": NEXT_DAY}}])
def test_a_pending_order_is_read_back_as_it_was_created(customer: Customer, values: dict[str, Any]) -> None:
    created = create(customer, [("PHONE", 2), ("CABLE", 7)], **values)
    found = by_code(customer, created)
    assert found == {**created, "status": "Pending", "expires_on": "2026-06-17T09:00:00"}
    upper = customer.get(f"/order/{created['confirmation_code'].upper()}")
    assert upper.json() == found


def test_an_expired_or_cancelled_pending_order_says_so(shop: Service, customer: Customer) -> None:
    expired, marked, cancelled = create(customer), create(customer), create(customer)
    cancel(shop, cancelled)
    assert by_code(customer, cancelled) == {**cancelled, "status": "Cancelled"}
    with at(shop, shop.clock.now() + A_DAY):
        assert by_code(customer, expired)["status"] == "Pending"
    with at(shop, shop.clock.now() + A_DAY + ONE_SECOND):
        assert by_code(customer, expired) == {**expired, "status": "Expired", "expires_on": "2026-06-17T09:00:00"}
        shop.in_transaction(lambda tx: expire_orders(tx, shop.clock.now()))
        assert by_code(customer, marked)["status"] == "Expired"


def test_once_confirmed_the_code_finds_the_order(shop: Service, customer: Customer) -> None:
    for placed in (confirm(customer, create(customer)).json(), buy(customer)):
        assert by_code(customer, placed) == read(customer, placed)
    cancelled = buy(customer)
    cancel(shop, cancelled)
    assert by_code(customer, cancelled)["status"] == "Cancelled"


def test_a_quote_is_found_by_its_code_once_it_is_an_order(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    path = f"/order/{quote['confirmation_code']}"
    for _ in range(2):
        response = customer.get(path)
        wanted = error_body("not_found", f"order {quote['confirmation_code']} not found")
        assert (response.status_code, response.json()) == (404, wanted)
        price_as_support(shop, quote, ("PHONE", "45"))
    ordered = confirm(customer, quote).json()
    assert by_code(customer, quote) == read(customer, ordered)


def test_foreign_and_unknown_codes_get_the_same_response(shop: Service, customer: Customer) -> None:
    other = shop.customer()
    codes = [create(other)["confirmation_code"], buy(other)["confirmation_code"], "0" * 32, "x" * 32, "0" * 31]
    for code in codes:
        response = customer.get(f"/order/{code}")
        assert (response.status_code, response.json()) == (404, error_body("not_found", f"order {code} not found"))


def test_an_option_says_what_a_confirmation_with_it_charges(shop: Service) -> None:
    sku = sell(shop, "ODD-PENNIES", "3.33", available=100, weight_kg="0.777")
    for address in ({}, {"shipping_address": GERMAN_ADDRESS}):
        customer = shop.customer()
        methods = [option["id"] for option in create(customer, [(sku, 3)], **address)["shipping_options"]]
        assert methods
        for method in methods:
            created = create(customer, [(sku, 3), ("CABLE", 7)], **address)
            [option] = [o for o in created["shipping_options"] if o["id"] == method]
            before = outstanding(shop, customer)
            placed = confirm(customer, created, method).json()
            charged = outstanding(shop, customer) - before
            assert Decimal(str(option["total_gross"])) == charged
            assert placed["shipping_method"]["total_gross"] == option["total_gross"]
            [(gross,)] = rows(shop, "select gross from orders where id = %s", placed["order_id"])
            assert gross == charged


def test_the_options_of_a_quote_say_what_it_costs_at_supports_prices(shop: Service) -> None:
    customer = shop.customer()
    quote = request_quote(customer, [("PHONE", 3)])
    price_as_support(shop, quote, ("PHONE", "45.55"))
    priced = customer.get(f"/quote/{quote['confirmation_code']}").json()
    totals = {option["id"]: option["total_gross"] for option in priced["shipping_options"]}
    confirm(customer, quote, STANDARD)
    assert outstanding(shop, customer) == Decimal(str(totals[STANDARD]))
