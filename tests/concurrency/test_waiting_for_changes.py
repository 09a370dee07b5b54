"""The change feed with several processes, requests that wait, and transactions that commit late."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx2
import psycopg
import pytest

from support.followers import Follower, whole
from support.orders import sell
from support.service import Customer, Service, running_service
from support.shop import price, product
from support.waiting import wait_for

UPDATE = """
    update stock_level set available = available + 1, changed_by = pg_current_xact_id()
    where product_id = (select id from product where sku = %s)
"""


@pytest.fixture(scope="module")
def second(shop: Service) -> Iterator[Service]:
    with running_service(shop.database_url) as running:
        yield running


@pytest.fixture(scope="module")
def quick(shop: Service) -> Iterator[Service]:
    """A server that polls by itself, as often as by default."""
    with running_service(shop.database_url, refresh_interval=timedelta(seconds=1)) as running:
        yield running


def at(service: Service, customer: Customer) -> Customer:
    return Customer(customer.id, customer.key, service.client(**{"X-Api-Key": customer.key}))


def test_a_transaction_that_commits_late_is_told(shop: Service) -> None:
    follower = Follower.of(shop.customer())
    with psycopg.connect(shop.database_url) as slow:
        slow.execute(UPDATE, ["CABLE"])
        with psycopg.connect(shop.database_url) as other:
            other.execute(UPDATE, ["PHONE"])
        shop.refresh()
        assert follower.follow() == [("PHONE", "changed")]
    shop.refresh()
    assert follower.follow() == [("CABLE", "changed")]


def test_a_change_is_told_once_while_a_transaction_is_open(shop: Service) -> None:
    follower = Follower.of(shop.customer())
    with psycopg.connect(shop.database_url) as slow:
        slow.execute(UPDATE, ["CABLE"])
        shop.must_load("price-list", [price("PHONE", 61)])
        assert follower.follow() == [("PHONE", "changed")]
        shop.refresh()
        assert follower.follow() == []


def test_a_server_that_is_behind_looks_before_it_responds(shop: Service, second: Service) -> None:
    customer = shop.customer()
    second.refresh()
    follower = Follower.of(customer)
    shop.must_load("stock", [{"sku": "PHONE", "available": 77}])
    follower.follow()
    shop.must_load("stock", [{"sku": "PHONE", "available": 78}])
    follower.servers = [at(second, customer)]
    assert follower.follow() == [("PHONE", "changed")]
    assert follower.products["PHONE"]["availability"]["available"] == 78


@pytest.mark.sweep
def test_a_server_that_cannot_catch_up_leaves_the_client_where_it_is(shop: Service, second: Service) -> None:
    customer = shop.customer()
    second.refresh()
    follower = Follower.of(customer)
    shop.must_load("price-list", [price("PHONE", 62)])
    follower.follow()
    cursor = follower.cursor
    follower.servers = [at(second, customer)]
    with psycopg.connect(shop.database_url) as blocking:
        blocking.execute("lock table change in access exclusive mode")  # no poll gets anywhere
        assert follower.ask().json() == []
        assert follower.cursor == cursor
    assert follower.follow() == []
    assert follower.products == whole(at(second, customer))


def waiting(pool: ThreadPoolExecutor, follower: Follower, seconds: int = 20) -> "Future[tuple[float, httpx2.Response]]":
    """Ask in the background; the result is when the response came, and the response."""

    def ask() -> tuple[float, httpx2.Response]:
        response = follower.ask(wait=seconds)
        return time.monotonic(), response

    return pool.submit(ask)


@pytest.mark.sweep
def test_a_waiting_request_hears_of_a_change_within_a_second(shop: Service, quick: Service) -> None:
    sku = sell(shop, "AWAITED", 7, available=5)
    customer = shop.customer()
    quick.refresh()
    follower = Follower.of(at(quick, customer))
    with ThreadPoolExecutor() as pool:
        response = waiting(pool, follower)
        time.sleep(0.7)
        changed_at = time.monotonic()
        with psycopg.connect(shop.database_url) as other:
            other.execute(UPDATE, [sku])
        came_at, found = response.result(timeout=20)
    assert [change["sku"] for change in found.json()] == [sku]
    assert came_at - changed_at < 2  # usually under 0.6; machines of tests are busy


@pytest.mark.sweep
def test_changes_of_others_wake_nobody_but_move_the_cursor(shop: Service) -> None:
    shop.must_load("price-list", [price("SWITCH", 250, price_list="unseen")])
    follower = Follower.of(shop.customer())
    cursor = follower.cursor
    with ThreadPoolExecutor() as pool:
        response = waiting(pool, follower, 2)
        time.sleep(0.5)
        shop.must_load("price-list", [price("SWITCH", 251, price_list="unseen")])
        _, found = response.result(timeout=20)
    assert found.json() == []
    assert follower.cursor != cursor


@pytest.mark.sweep
def test_a_contract_price_that_begins_at_midnight_wakes_its_customer(shop: Service) -> None:
    customer = shop.customer()
    contract: dict[str, Any] = {name: value for name, value in price("PHONE", 33).items() if name != "price_list"}
    shop.must_load(
        "contract-prices", [{**contract, "customer_id": customer.id, "valid_from": "2026-06-17", "valid_until": None}]
    )
    follower = Follower.of(customer)
    with ThreadPoolExecutor() as pool:
        response = waiting(pool, follower)
        time.sleep(0.5)
        before = shop.clock.now()
        shop.clock.set(before.replace(hour=23, minute=0))  # UK midnight in summer
        try:
            shop.refresh()
            _, found = response.result(timeout=20)
        finally:
            shop.clock.set(before)
    [change] = found.json()
    assert (change["sku"], change["product"]["single_unit_cost"]) == ("PHONE", 33)


@pytest.mark.sweep
def test_a_server_that_stops_ends_the_waits(shop: Service) -> None:
    with running_service(shop.database_url) as stopping, ThreadPoolExecutor() as pool:
        customer = shop.customer()
        stopping.refresh()
        follower = Follower.of(at(stopping, customer))
        response = waiting(pool, follower)
        time.sleep(0.5)
        stopping.loop.call_soon_threadsafe(stopping.application.stopping.set)
        began = time.monotonic()
        ended_at, found = response.result(timeout=20)
    assert (found.status_code, found.json()) == (200, [])
    assert ended_at - began < 5


@pytest.mark.sweep
def test_requests_that_wait_hold_no_connection(shop: Service) -> None:
    followers = [Follower.of(shop.customer()) for _ in range(30)]
    barrier = threading.Barrier(len(followers) + 1)

    def ask(follower: Follower) -> list[Any]:
        barrier.wait()
        found: list[Any] = follower.ask(wait=20).json()
        return found

    with ThreadPoolExecutor(len(followers)) as pool:
        asked = [pool.submit(ask, follower) for follower in followers]
        barrier.wait()
        wait_for(lambda: len(shop.application.followers) == len(followers), 15)
        assert shop.call(_used_connections(shop)) == 0
        shop.must_load("stock", [{"sku": "PHONE", "available": 55}])
        assert all([change["sku"] for change in each.result(timeout=20)] == ["PHONE"] for each in asked)


@pytest.mark.sweep
def test_other_requests_come_between_pages_that_take_long(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    followers = [Follower.of(shop.customer()) for _ in range(8)]
    sell(shop, "TOLD-TO-MANY", 10, available=3)
    monkeypatch.setattr("tradecounter.storefront.changes.follow._LONG_SECONDS", 0)

    async def turns_of_others() -> int:
        feed = shop.application.changes
        pages = [
            asyncio.create_task(feed.page(follower.servers[0].id, follower.cursor, limit=100)) for follower in followers
        ]
        turns = 0
        while not all(page.done() for page in pages):
            await asyncio.sleep(0)
            turns += 1
        assert all(b"TOLD-TO-MANY" in page.result().body for page in pages)
        return turns

    assert shop.call(turns_of_others) >= len(followers)


def _used_connections(shop: Service) -> Any:
    async def used() -> int:
        stats = shop.application.database.pool.get_stats()
        return int(stats["pool_size"] - stats["pool_available"])

    return used


def change_terms(shop: Service, customer: Customer) -> None:
    email = customer.get("/customer").json()["email_address"]
    shop.must_load("customers", [{"email_address": email, "discount": "30"}])


CONTRACT = {name: value for name, value in price("PHONE", 29).items() if name != "price_list"}
CHANGES: dict[str, Callable[[Service, Customer], Any]] = {
    "detail": lambda shop, _: shop.must_load("products", [product("PHONE", name=f"Phone {time.monotonic()}")]),
    "own list": lambda shop, _: shop.must_load("price-list", [price("PHONE", 28, price_list="awaited")]),
    "default list": lambda shop, _: shop.must_load("price-list", [price("CABLE", 27)]),
    "contract": lambda shop, customer: shop.must_load(
        "contract-prices", [{**CONTRACT, "customer_id": customer.id, "valid_from": None, "valid_until": None}]
    ),
    "delivery": lambda shop, _: shop.must_load(
        "incoming", [{"sku": "PHONE", "incoming": 3, "expected_on": "2026-08-08T09:00:00"}]
    ),
    "terms": change_terms,
}


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("change", CHANGES)
def test_any_kind_of_change_wakes_its_customer(shop: Service, change: str) -> None:
    shop.must_load("price-list", [price("PHONE", 40, price_list="awaited")])
    customer = shop.customer(price_list="awaited")
    follower = Follower.of(customer)
    with ThreadPoolExecutor() as pool:
        response = waiting(pool, follower)
        time.sleep(0.5)
        began = time.monotonic()
        CHANGES[change](shop, customer)
        came_at, found = response.result(timeout=30)
    assert found.json() != []
    assert came_at - began < 10
    follower.follow()
    assert follower.products == whole(customer)
