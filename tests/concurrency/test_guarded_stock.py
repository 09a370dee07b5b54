"""Concurrent confirmations of orders that must not wait for stock: none waits, and none is stopped without need."""

from functools import partial
from typing import Any

import pytest

from support.orders import buy, confirm, create, faults_in_the_books, in_parallel, level, sell
from support.service import Service
from support.shop import STANDARD, order

pytestmark = pytest.mark.sweep


def test_as_many_orders_are_confirmed_as_there_is_stock_and_the_others_stay_pending(shop: Service) -> None:
    customers = [shop.customer() for _ in range(10)]
    sku = sell(shop, "GUARDED-SCARCE", available=11)
    pending = [(customer, create(customer, [(sku, 2)], allow_back_orders=False)) for customer in customers]
    responses = in_parallel([partial(confirm, customer, each) for customer, each in pending])
    assert sorted(response.status_code for response in responses) == [200] * 5 + [409] * 5
    assert {response.json().get("code") for response in responses} == {None, "out_of_stock"}
    assert level(shop, sku) == (1, 10, 0)
    for (customer, each), response in zip(pending, responses, strict=True):
        status = customer.get(f"/order/{each['confirmation_code']}").json()["status"]
        assert status == ("Pending" if response.status_code == 409 else "Awaiting dispatch")
    assert faults_in_the_books(shop) == {}


def test_guarded_orders_and_orders_that_may_wait_share_stock(shop: Service) -> None:
    customers = [shop.customer() for _ in range(10)]
    sku = sell(shop, "GUARDED-SHARED", available=6)
    method: dict[str, Any] = {"auto_confirm": True, "shipping_method": {"id": STANDARD}}
    calls = [
        partial(customer.post, "/order", order([(sku, 1)], **method, allow_back_orders=bool(number % 2)))
        for number, customer in enumerate(customers * 2)
    ]
    responses = in_parallel(calls)
    placed = [response.status_code == 201 for response in responses]
    assert all(placed[1::2]), "those that may wait are never rejected"
    taken, waiting = sum(placed), max(sum(placed) - 6, 0)
    assert level(shop, sku) == (max(6 - taken, 0), min(taken, 6), waiting)
    assert waiting <= 10, "only those that may wait do"
    assert faults_in_the_books(shop) == {}


def test_a_guarded_order_does_not_wait_for_what_another_gives_back(shop: Service) -> None:
    customer = shop.customer()
    sku = sell(shop, "GUARDED-GONE", available=1)
    pending = create(customer, [(sku, 1)], allow_back_orders=False)
    buy(shop.customer(), [(sku, 1)])
    assert [each.status_code for each in in_parallel([partial(confirm, customer, pending)] * 4)] == [409] * 4
    assert level(shop, sku) == (0, 1, 0)
