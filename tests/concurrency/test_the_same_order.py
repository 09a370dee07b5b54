"""Concurrent identical requests have one effect."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from support.orders import at, confirm, create, faults_in_the_books, in_parallel, level, outstanding, rows, sell
from support.service import MORNING, Service
from support.shop import NEXT_DAY, STANDARD, order
from tradecounter.orders.cancel_order import expire_orders


def test_fifty_confirmations_of_one_code_make_one_order(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "ONCE", 50, available=10)
    pending = create(customer, [(sku, 4)])

    responses = in_parallel([partial(confirm, customer, pending)] * 50)

    assert {response.status_code for response in responses} == {200}
    assert len({response.content for response in responses}) == 1
    assert [found["id"] for found in customer.get("/order").json()] == [responses[0].json()["order_id"]]
    assert level(shop, sku) == (6, 4, 0)
    assert rows(shop, "select gross from orders where customer_id = %s", customer.id) == [
        (outstanding(shop, customer),)
    ]
    assert faults_in_the_books(shop) == {}


def test_one_of_several_confirmations_with_different_methods_wins(shop: Service) -> None:
    customer = shop.customer()
    pending = create(customer)

    responses = in_parallel([partial(confirm, customer, pending, m) for m in [STANDARD, NEXT_DAY] * 10])

    assert Counter(response.status_code for response in responses) == {200: 10, 400: 10}
    [found] = customer.get("/order").json()
    assert {response.json()["shipping_method"]["id"] for response in responses if response.status_code == 200} == {
        found["shipping"][0]["method_id"]
    }
    assert faults_in_the_books(shop) == {}


def test_one_of_twenty_auto_confirmed_orders_with_a_unique_reference_succeeds(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    body = order(auto_confirm=True, shipping_method={"id": STANDARD})

    responses = in_parallel([partial(customer.post, "/order", body)] * 20)

    assert Counter(response.status_code for response in responses) == {201: 1, 409: 19}
    [placed] = [response.json() for response in responses if response.status_code == 201]
    for response in responses:
        assert response.status_code == 201 or placed["order_reference"] in response.json()["message"]
    assert [found["id"] for found in customer.get("/order").json()] == [placed["order_id"]]


@pytest.mark.spec("7 409", "duplicate data")
def test_one_of_twenty_pending_orders_with_a_unique_reference_is_created(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    responses = in_parallel([partial(customer.post, "/order", order())] * 20)
    assert Counter(response.status_code for response in responses) == {201: 1, 409: 19}
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(1,)]


def test_an_order_is_either_confirmed_or_expired(shop: Service) -> None:
    customer = shop.customer()
    pending = [create(customer) for _ in range(20)]
    late = MORNING + timedelta(hours=24, seconds=1)

    def expire() -> int:
        return shop.in_transaction(lambda tx: expire_orders(tx, late))

    def confirm_status(code: dict[str, str]) -> int:
        return confirm(customer, code).status_code

    with at(shop, MORNING + timedelta(hours=24)):
        calls: list[Callable[[], int]] = [*[partial(confirm_status, p) for p in pending], expire]
        *statuses, _ = in_parallel(calls)

    assert set(statuses) <= {200, 410}
    states = rows(shop, "select confirmation_code, state from orders where customer_id = %s", customer.id)
    assert dict(states) == {
        order["confirmation_code"]: "confirmed" if status == 200 else "expired"
        for order, status in zip(pending, statuses, strict=True)
    }
    assert faults_in_the_books(shop) == {}
