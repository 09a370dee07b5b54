"""Orders with `auto_confirm`, and the account's default shipping method (specification, section 3)."""

import re

import pytest

from support.orders import at, confirm, create, read, rows, sell, uk
from support.service import Customer, Service
from support.shop import EUROPE, GERMAN_ADDRESS, NEXT_DAY, STANDARD, order, price

UNUSABLE_DEFAULTS = [
    pytest.param(None, id="no default"),
    pytest.param(EUROPE, id="a default that does not serve the address"),
    pytest.param(99, id="a default that does not exist"),
]


@pytest.mark.spec("2 Order request", "a shipping method needs only its id")
@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
@pytest.mark.spec("4 POST /order", "confirmed immediately when auto_confirm is true")
def test_an_auto_confirmed_order_is_created_with_its_ids(shop: Service) -> None:
    customer = shop.customer()
    response = customer.post("/order", order(auto_confirm=True, shipping_method={"id": STANDARD}))
    assert response.status_code == 201
    placed = response.json()
    assert isinstance(placed["order_id"], int)
    assert re.fullmatch("ORD-[0-9]+", placed["order_reference"])
    assert placed["auto_confirm"] is True
    assert placed["shipping_method"]["id"] == STANDARD
    assert read(customer, placed)["status"] == "Awaiting dispatch"


def test_confirming_an_auto_confirmed_order_returns_it(shop: Service) -> None:
    customer = shop.customer()
    placed = create(customer, auto_confirm=True, shipping_method={"id": STANDARD})
    again = confirm(customer, placed)
    assert again.status_code == 200
    assert (again.json()["order_id"], again.json()["order_reference"]) == (
        placed["order_id"],
        placed["order_reference"],
    )


@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
def test_auto_confirm_uses_the_live_price(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "LIVE", 10, available=9)
    pending = create(customer, [(sku, 1)])
    shop.must_load("price-list", [price(sku, 12)])
    assert create(customer, [(sku, 1)], auto_confirm=True, shipping_method={"id": STANDARD})["cost_net"] == 12.00
    assert confirm(customer, pending).json()["cost_net"] == 10.00


@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
def test_the_accounts_default_method_is_used_without_a_method(shop: Service) -> None:
    customer = shop.customer(shipping_method=NEXT_DAY)
    auto_confirmed = create(customer, auto_confirm=True)
    in_two_steps = confirm(customer, create(customer), None).json()
    assert auto_confirmed["shipping_method"]["id"] == in_two_steps["shipping_method"]["id"] == NEXT_DAY


def test_a_given_method_takes_precedence_over_the_default(shop: Service) -> None:
    customer = shop.customer(shipping_method=NEXT_DAY)
    auto_confirmed = create(customer, auto_confirm=True, shipping_method={"id": STANDARD})
    in_two_steps = confirm(customer, create(customer), STANDARD).json()
    assert auto_confirmed["shipping_method"]["id"] == in_two_steps["shipping_method"]["id"] == STANDARD


def test_a_default_that_does_not_carry_the_weight_is_not_used(shop: Service) -> None:
    customer = shop.customer(shipping_method=STANDARD)
    assert customer.post("/order", order([("SWITCH", 6)], auto_confirm=True)).status_code == 201
    assert customer.post("/order", order([("SWITCH", 7)], auto_confirm=True)).status_code == 412


@pytest.mark.spec("4 PUT /order/{reference}", "without a method, the account's default if it is one of the options")
def test_a_default_is_used_for_addresses_that_it_serves(shop: Service) -> None:
    customer = shop.customer(shipping_method=EUROPE)
    placed = create(customer, auto_confirm=True, shipping_address=GERMAN_ADDRESS)
    assert placed["shipping_method"]["id"] == EUROPE


@pytest.mark.spec("3 POST /order, confirmed at once without a method", "412, and nothing is created")
@pytest.mark.spec("7 412", "no shipping method and no default")
@pytest.mark.parametrize("default", UNUSABLE_DEFAULTS)
def test_without_a_method_or_a_usable_default_the_response_is_412(shop: Service, default: int | None) -> None:
    customer = shop.customer(shipping_method=default)
    response = customer.post("/order", order(auto_confirm=True))
    assert response.status_code == 412
    assert response.json()["message"].startswith("shipping_method: ")
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(0,)]


@pytest.mark.spec("4 PUT /order/{reference}", "without a method, the account's default if it is one of the options")
@pytest.mark.parametrize("default", UNUSABLE_DEFAULTS)
def test_a_pending_order_without_a_usable_default_needs_a_method(shop: Service, default: int | None) -> None:
    customer = shop.customer(shipping_method=default)
    pending = create(customer)
    assert confirm(customer, pending, None).status_code == 412
    assert confirm(customer, pending, STANDARD).status_code == 200


@pytest.mark.spec("3 POST /order, confirmed at once", "the shipping method must be valid")
def test_a_method_that_was_not_offered_is_rejected_even_if_the_default_was(shop: Service) -> None:
    response = shop.customer(shipping_method=STANDARD).post(
        "/order", order(auto_confirm=True, shipping_method={"id": EUROPE})
    )
    assert response.status_code == 400


def test_an_auto_confirmed_order_beyond_the_credit_is_not_created(shop: Service) -> None:
    customer = shop.customer(credit="66.59")
    response = customer.post("/order", order(auto_confirm=True, shipping_method={"id": STANDARD}))
    assert response.status_code == 402
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(0,)]


@pytest.mark.spec("3 POST /order, to be confirmed", "auto_confirm: false is the same as no auto_confirm")
@pytest.mark.parametrize("given", [False, None])
def test_auto_confirm_of_false_or_null_leaves_the_order_pending(shop: Service, given: bool | None) -> None:
    created = create(shop.customer(shipping_method=STANDARD), auto_confirm=given)
    assert "order_id" not in created
    assert "order_reference" not in created


@pytest.fixture(scope="module")
def after_hours(shop: Service) -> Customer:
    return shop.customer(shipping_method=STANDARD)


def test_an_order_confirmed_after_the_cut_off_is_dispatched_the_next_working_day(
    shop: Service, after_hours: Customer
) -> None:
    with at(shop, uk(2026, 6, 19, 16)):
        placed = create(after_hours, auto_confirm=True)
    assert placed["shipping_method"]["expected_dispatch_date"] == "2026-06-22T16:00:00"
    assert read(after_hours, placed)["created_on"] == "2026-06-19T16:00:00"
