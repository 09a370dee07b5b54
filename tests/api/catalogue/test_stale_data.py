"""Data unconfirmed for longer than STALE_AFTER is not used: product reads and new orders get 503."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx2
import psycopg
import pytest

from support.backoffice import backoffice_of
from support.cluster import Cluster
from support.error_bodies import error_body
from support.orders import buy, confirm, create
from support.pages import customer_user, text_of
from support.service import Customer, Service, running_service
from support.shop import STANDARD, order, price, stock_shop
from support.waiting import wait_for

STALE = error_body("unavailable", "prices and stock cannot be verified at present; try again in 5 seconds")


@pytest.fixture
def shop(postgres: Cluster) -> Iterator[Service]:
    often, soon = timedelta(seconds=0.05), timedelta(seconds=3)
    with postgres.database() as url, running_service(url, refresh_interval=often, stale_after=soon) as service:
        stock_shop(service)
        yield service


@contextmanager
def catalogue_unreadable(service: Service) -> Iterator[None]:
    """Create a newer catalogue that cannot be read while the block runs."""
    with psycopg.connect(service.database_url, autocommit=True) as connection:
        connection.execute("alter table attribute rename to mislaid")
        connection.execute("update product set name = 'Renamed' where sku = 'PHONE'")
        connection.execute("update change set version = version + 1 where topic = 'catalogue'")
        try:
            yield
        finally:
            connection.execute("alter table mislaid rename to attribute")


def is_stale(response: httpx2.Response) -> bool:
    return (response.status_code, response.headers.get("Retry-After")) == (503, "5") and response.json() == STALE


def calls(customer: Customer) -> list[httpx2.Response]:
    """Return the responses of every endpoint that uses live prices."""
    return [
        customer.get("/product"),
        customer.get("/product", headers={"Accept": "text/csv"}),
        customer.get("/product/PHONE"),
        customer.post("/order", order()),
        customer.post("/quote", order()),
    ]


@pytest.mark.sweep
@pytest.mark.spec("7 503", "also when prices and stock could not be confirmed for too long")
@pytest.mark.spec("8 Price and stock cache", "data that could not be confirmed for too long is not shown")
def test_stale_data_causes_503_even_for_cached_responses(
    shop: Service,
) -> None:
    customer = shop.customer()
    wait_for(lambda: [response.status_code for response in calls(customer)] == [200, 200, 200, 201, 201])
    tag = customer.get("/product").headers["ETag"]
    with catalogue_unreadable(shop):
        wait_for(lambda: is_stale(customer.get("/product", headers={"If-None-Match": tag})))
        assert all(map(is_stale, calls(customer)))
    shop.load("price-list", [price("PHONE", 60)])
    shop.load("manufacturers", [{"key": "acme", "name": "Acme again"}])
    wait_for(lambda: [response.status_code for response in calls(customer)] == [200, 200, 200, 201, 201])
    shown = customer.get("/product/PHONE").json()
    assert (shown["name"], shown["single_unit_cost"]) == ("Renamed", 60)


@pytest.mark.sweep
def test_requests_without_live_prices_still_work(shop: Service) -> None:
    customer = shop.customer()
    wait_for(lambda: customer.get("/product").status_code == 200)
    placed, pending = buy(customer), create(customer)
    key = {"Idempotency-Key": "once"}
    body: dict[str, Any] = order(auto_confirm=True, shipping_method={"id": STANDARD})
    first = customer.post("/order", body, headers=key)
    with catalogue_unreadable(shop):
        wait_for(lambda: is_stale(customer.get("/product")))
        assert customer.post("/order", body, headers=key).content == first.content
        confirmed = confirm(customer, pending)
        assert (confirmed.status_code, confirmed.json()["cost_net"]) == (200, pending["cost_net"])
        for path in (f"/order/{placed['order_id']}", "/order", "/customer", "/customer/credit", "/category"):
            assert customer.get(path).status_code == 200, path


@pytest.mark.sweep
def test_staff_confirm_orders_while_their_prices_are_stale(shop: Service) -> None:
    customer = shop.customer()
    wait_for(lambda: customer.get("/product").status_code == 200)
    pending = create(customer)
    with backoffice_of(shop) as office:
        staff, new = office.caller(), {**order(), "customer_id": customer.id}
        wait_for(lambda: staff.post("/api/order", json=new).status_code == 201)
        with catalogue_unreadable(shop):
            wait_for(lambda: is_stale(staff.post("/api/order", json=new)))
            confirmation = {"shipping_method": {"id": STANDARD}}
            confirmed = staff.post(f"/api/order/{pending['confirmation_code']}/confirm", json=confirmation)
            assert confirmed.status_code == 200, confirmed.text


@pytest.mark.sweep
def test_the_start_page_of_the_account_needs_no_catalogue(shop: Service) -> None:
    customer = shop.customer()
    person = customer_user(shop, customer.id)
    buy(customer)
    assert "Order again" in text_of(person.get("/account"))
    with catalogue_unreadable(shop):
        wait_for(lambda: is_stale(customer.get("/product")))
        home = person.get("/account")
        assert home.status_code == 200
        assert "Latest orders" in text_of(home)
        assert "Order again" not in text_of(home)
