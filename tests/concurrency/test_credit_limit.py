"""Concurrent confirmations never exceed an account's credit limit."""

import threading
from collections import Counter
from decimal import Decimal
from functools import partial

import httpx2
import psycopg
import pytest

from support.orders import buy, confirm, create, faults_in_the_books, in_parallel, level, outstanding, rows, sell
from support.service import Customer, Service, running_service
from support.shop import NEXT_DAY, STANDARD, order
from support.waiting import waiting_for_a_lock
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange

# One phone with shipping: 66.60 with STANDARD, 72.00 with NEXT_DAY.
BY_STANDARD, BY_NEXT_DAY = Decimal("66.60"), Decimal("72.00")


def confirmed_gross(service: Service, customer: Customer) -> Decimal:
    [(total,)] = rows(
        service,
        "select coalesce(sum(gross), 0) from orders where customer_id = %s and state = 'confirmed'",
        customer.id,
    )
    return Decimal(total)


@pytest.mark.spec("7 402", "no credit terms, or not enough credit")
def test_fifty_confirmations_succeed_up_to_the_credit_limit(shop: Service) -> None:
    sku = sell(shop, "LIMITED", 50, available=100)
    customer = shop.customer(credit="1000.00")
    pending = [create(customer, [(sku, 1)]) for _ in range(50)]

    responses = in_parallel([partial(confirm, customer, p) for p in pending])

    assert Counter(response.status_code for response in responses) == {200: 15, 402: 35}
    assert outstanding(shop, customer) == confirmed_gross(shop, customer) == 15 * BY_STANDARD
    assert level(shop, sku) == (85, 15, 0)
    assert len(customer.get("/order").json()) == 15
    assert customer.get("/customer/credit").json()["available_credit"] == 1.00
    assert faults_in_the_books(shop) == {}


def test_orders_of_different_amounts_together_stay_within_the_limit(shop: Service) -> None:
    customer = shop.customer(credit="700.00")
    pending = [create(customer) for _ in range(20)]
    methods = [STANDARD, NEXT_DAY] * 10

    responses = in_parallel([partial(confirm, customer, p, m) for p, m in zip(pending, methods, strict=True)])

    owed = outstanding(shop, customer)
    assert {response.status_code for response in responses} == {200, 402}
    assert owed == confirmed_gross(shop, customer)
    assert Decimal("700.00") - BY_STANDARD < owed <= Decimal("700.00")


def test_auto_confirmed_orders_stay_within_the_limit(shop: Service) -> None:
    customer = shop.customer(credit="333.00")
    body = order(auto_confirm=True, shipping_method={"id": STANDARD})

    responses = in_parallel([partial(customer.post, "/order", body)] * 20)

    assert Counter(response.status_code for response in responses) == {201: 5, 402: 15}
    assert outstanding(shop, customer) == 5 * BY_STANDARD
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(5,)]


@pytest.mark.sweep
def test_the_limit_holds_on_two_servers(shop: Service) -> None:
    customer = shop.customer(credit="400.00")
    pending = [create(customer) for _ in range(20)]
    with running_service(shop.database_url) as second:
        on_second = Customer(customer.id, customer.key, second.client(**{"X-Api-Key": customer.key}))
        callers = [customer, on_second] * 10
        responses = in_parallel([partial(confirm, c, p) for c, p in zip(callers, pending, strict=True)])
    assert Counter(response.status_code for response in responses) == {200: 6, 402: 14}
    assert outstanding(shop, customer) == 6 * BY_STANDARD


def test_accounts_do_not_affect_each_other(shop: Service) -> None:
    customers = [shop.customer(credit=str(BY_NEXT_DAY)) for _ in range(10)]
    responses = in_parallel([partial(buy, c, method=NEXT_DAY) for c in customers])
    assert len({response["order_reference"] for response in responses}) == 10
    assert [outstanding(shop, customer) for customer in customers] == [BY_NEXT_DAY] * 10


@pytest.mark.parametrize(("limit", "status"), [("90.00", 402), ("500.00", 200)])
def test_a_limit_changed_during_a_confirmation_applies_to_it(shop: Service, limit: str, status: int) -> None:
    customer = shop.customer(credit="250.00")
    buy(customer)
    pending = create(customer)
    responses: list[httpx2.Response] = []
    confirming = threading.Thread(target=lambda: responses.append(confirm(customer, pending)))
    with psycopg.connect(shop.database_url) as holder:
        holder.execute("select from credit_exposure where customer_id = %s for update", [customer.id])
        confirming.start()
        waiting_for_a_lock(shop.database_url)
        change = CustomerChange(credit_limit=Decimal(limit))
        shop.in_transaction(lambda tx: edit_account(tx, customer.id, change))
    confirming.join(timeout=30)
    assert [response.status_code for response in responses] == [status]
    assert faults_in_the_books(shop) == {}
