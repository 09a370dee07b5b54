"""Cancellation returns stock and credit, and serves back-orders (specification, status labels, orders)."""

from datetime import timedelta

import pytest

from support.orders import (
    at,
    buy,
    cancel,
    confirm,
    create,
    dispatch,
    faults_in_the_books,
    level,
    lines,
    outstanding,
    read,
    rows,
    sell,
    uk,
)  # fmt: skip
from support.service import MORNING, Customer, Service
from tradecounter.kit.errors import DomainError
from tradecounter.orders.cancel_order import expire_orders


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def test_cancelling_returns_stock_and_credit(shop: Service) -> None:
    customer = shop.customer()
    sku = sell(shop, "BACK", available=5)
    kept = buy(customer)
    owed = outstanding(shop, customer)
    placed = buy(customer, [(sku, 8)])
    assert level(shop, sku) == (0, 5, 3)
    cancel(shop, placed)
    assert level(shop, sku) == (5, 0, 0)
    assert outstanding(shop, customer) == owed
    assert lines(shop, placed) == [(sku, 0, 0)]
    assert [order["id"] for order in customer.get("/order").json()] == [kept["order_id"]]
    assert [due["order_reference"] for due in customer.get("/customer/credit").json()["outstanding_orders"]] == [
        kept["order_reference"]
    ]
    for reference in (placed["order_id"], placed["order_reference"]):
        assert customer.get(f"/order/{reference}").json()["status"] == "Cancelled"
    assert faults_in_the_books(shop) == {}


def test_returned_stock_serves_back_orders_first(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "WAITED", available=6)
    first = buy(customer, [(sku, 6)])
    with at(shop, uk(2026, 6, 16, 10)):
        second, third = buy(shop.customer(), [(sku, 4)]), buy(customer, [(sku, 1)])
    cancel(shop, first)
    assert level(shop, sku) == (1, 5, 0)
    assert (lines(shop, second), lines(shop, third)) == ([(sku, 4, 0)], [(sku, 1, 0)])
    assert read(customer, third)["status"] == "Awaiting dispatch"
    assert faults_in_the_books(shop) == {}


def test_a_cancelled_back_order_gets_no_stock(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "GIVEN-UP")
    first, second = buy(customer, [(sku, 3)]), buy(customer, [(sku, 2)])
    cancel(shop, first)
    assert level(shop, sku) == (0, 0, 2)
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    assert lines(shop, second) == [(sku, 2, 0)]
    assert level(shop, sku) == (1, 2, 0)


def test_a_cancelled_pending_order_is_gone(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    cancel(shop, pending)
    rejected = confirm(customer, pending)
    assert rejected.status_code == 410
    assert "was cancelled" in rejected.json()["message"]
    assert faults_in_the_books(shop) == {}


def test_the_error_for_confirming_a_cancelled_order_says_that_it_is_cancelled(
    shop: Service, customer: Customer
) -> None:
    pending = create(customer)
    assert confirm(customer, pending).status_code == 200
    cancel(shop, pending)
    rejected = confirm(customer, pending)
    assert (rejected.status_code, "was cancelled" in rejected.json()["message"]) == (410, True)


def test_an_order_cannot_be_cancelled_twice(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    cancel(shop, placed, "  Wrong address ")
    owed = outstanding(shop, customer)
    with pytest.raises(DomainError, match="is already cancelled"):
        cancel(shop, placed, "again")
    assert outstanding(shop, customer) == owed
    [(reason, moment)] = rows(shop, "select cancel_reason, cancelled_at from orders where id = %s", placed["order_id"])
    assert (reason, moment) == ("Wrong address", MORNING)


def test_dispatched_and_expired_orders_cannot_be_cancelled(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2), ("CABLE", 1)])
    dispatch(shop, placed)
    with pytest.raises(DomainError, match="is dispatched: nothing is left to cancel"):
        cancel(shop, placed)
    unmarked, marked = create(customer), create(customer)
    with at(shop, MORNING + timedelta(hours=24, seconds=1)):
        with pytest.raises(DomainError, match="has expired"):
            cancel(shop, unmarked)
        now = shop.clock.now()
        shop.in_transaction(lambda tx: expire_orders(tx, now))
        with pytest.raises(DomainError, match="has expired"):
            cancel(shop, marked)
    with pytest.raises(DomainError, match="not found"):
        cancel(shop, {"order_reference": "ORD-1"})
    assert faults_in_the_books(shop) == {}


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001])
def test_a_reason_is_required(shop: Service, customer: Customer, reason: str) -> None:
    placed = buy(customer)
    with pytest.raises(DomainError, match="reason: must have"):
        cancel(shop, placed, reason)
    assert read(customer, placed)["status"] == "Awaiting dispatch"
