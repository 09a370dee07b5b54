"""One customer's requests, however many or slow, do not block other customers; nor do imports block the back office."""

import asyncio
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from support.backoffice import backoffice_of
from support.cluster import Cluster
from support.orders import confirm, create, faults_in_the_books
from support.pages import staff_member
from support.service import Customer, Service, running_service
from support.shop import order, stock_shop
from support.waiting import wait_for
from tradecounter.db.fair_shares import IMPORTS
from tradecounter.db.pool import Database

pytestmark = pytest.mark.sweep

AT_A_TIME = 3  # of ten connections
CONFIRMATIONS = 12
MANY_IMPORTS = 12


@pytest.fixture(scope="module")
def shop(postgres: Cluster) -> Iterator[Service]:
    with postgres.database() as url, running_service(url) as service:
        stock_shop(service)
        yield service


@contextmanager
def locked_credit(service: Service, customer: Customer) -> Iterator[None]:
    """Lock the row that every confirmation of the customer needs."""
    with psycopg.connect(service.database_url) as connection:
        connection.execute(
            "insert into credit_exposure (customer_id) values (%s) on conflict do nothing", [customer.id]
        )
        connection.commit()
        connection.execute("select from credit_exposure where customer_id = %s for update", [customer.id])
        yield


def slots_used_by(customer_id: int, database: Database) -> int:
    """Return how many of the customer's requests use a connection or wait for one."""
    share = database._shares._shares.get(customer_id)  # noqa: SLF001
    return 0 if share is None else share.requests


def waiting_for_locks(service: Service) -> int:
    with psycopg.connect(service.database_url, autocommit=True) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_confirmations_that_wait_for_a_lock_leave_connections_for_other_customers(shop: Service) -> None:
    customer, other = shop.customer(), shop.customer()
    shop.refresh()
    pending = [create(customer) for _ in range(CONFIRMATIONS)]
    with ThreadPoolExecutor(CONFIRMATIONS) as threads, locked_credit(shop, customer):
        confirmations = [threads.submit(confirm, customer, each) for each in pending]
        wait_for(lambda: slots_used_by(customer.id, shop.application.database) == CONFIRMATIONS)
        wait_for(lambda: waiting_for_locks(shop) >= AT_A_TIME)
        assert max(waiting_for_locks(shop) for _ in range(20)) == AT_A_TIME
        for path in ("/customer", "/product", "/customer/credit", "/order") * 5:
            assert other.get(path).status_code == 200, path
        assert waiting_for_locks(shop) <= AT_A_TIME
        assert other.post("/order", order()).status_code == 201
        shop.refresh()  # the poll does not wait for them either
    statuses = [each.result().status_code for each in confirmations]
    assert set(statuses) <= {200, 503}
    assert 200 in statuses  # the last ones got a slot after the lock was released
    for each in pending:
        assert confirm(customer, each).status_code == 200
    assert faults_in_the_books(shop) == {}


def test_imports_that_wait_for_a_lock_leave_connections_for_other_requests(shop: Service) -> None:
    with backoffice_of(shop) as office, psycopg.connect(shop.database_url) as locking:
        token = office.token("stock:write", "orders:read")
        other, *clients = [office.client(token) for _ in range(1 + MANY_IMPORTS)]

        def send(client: httpx2.Client) -> int:
            headers = {"Content-Type": "text/csv"}
            return client.post("/api/import/stock", content="sku,available\nCABLE,999\n", headers=headers).status_code

        locking.execute("lock table stock_level in share row exclusive mode")
        with ThreadPoolExecutor(MANY_IMPORTS) as threads:
            statuses = threads.map(send, clients)
            wait_for(lambda: slots_used_by(IMPORTS, office.site.site.database) == MANY_IMPORTS)
            assert max(waiting_for_locks(shop) for _ in range(20)) <= AT_A_TIME
            assert all(other.get("/api/order?limit=1").status_code == 200 for _ in range(5))
            locking.rollback()
            found = set(statuses)
    assert found <= {200, 503}
    assert 200 in found  # the last ones got a slot after the lock was released


@pytest.mark.parametrize(
    ("path", "body", "needed"),
    [("/api/price-change", {"raise_percent": 5}, "price"), ("/api/import/{}/roll-back", {}, "import_run")],
)
def test_changes_that_may_be_as_long_as_an_import_count_as_imports(
    shop: Service, path: str, body: dict[str, int], needed: str
) -> None:
    shop.must_load("stock", [{"sku": "CABLE", "available": 998}])
    with backoffice_of(shop) as office, psycopg.connect(shop.database_url) as locking:
        [(latest,)] = locking.execute("select max(id) from import_run").fetchall()
        token = office.token("prices:write", "stock:write", "catalogue:write", "orders:read")
        other, *clients = [office.client(token) for _ in range(1 + MANY_IMPORTS)]
        locking.execute(SQL("lock table {} in exclusive mode").format(Identifier(needed)))
        with ThreadPoolExecutor(MANY_IMPORTS) as threads:
            statuses = threads.map(lambda client: client.post(path.format(latest), json=body).status_code, clients)
            wait_for(lambda: slots_used_by(IMPORTS, office.site.site.database) == MANY_IMPORTS)
            assert max(waiting_for_locks(shop) for _ in range(20)) <= AT_A_TIME
            assert all(other.get("/api/order?limit=1").status_code == 200 for _ in range(5))
            locking.rollback()
            found = set(statuses)
    assert found <= {200, 409, 503}
    assert 200 in found


@pytest.mark.parametrize(
    ("path", "fields", "needed"),
    [("/import/{}/roll-back", {"once": ""}, "import_run"), ("/price-change", {"by": "5"}, "price")],
)
def test_forms_that_may_be_as_long_as_an_import_count_as_imports(
    shop: Service, path: str, fields: dict[str, str], needed: str
) -> None:
    shop.must_load("stock", [{"sku": "CABLE", "available": 997}])
    with backoffice_of(shop) as office, psycopg.connect(shop.database_url) as locking:
        [(latest,)] = locking.execute("select max(id) from import_run").fetchall()
        person = staff_member(shop, office.url, "administrator")
        locking.execute(SQL("lock table {} in access exclusive mode").format(Identifier(needed)))
        with ThreadPoolExecutor(MANY_IMPORTS) as threads:
            sent = threads.map(lambda _: person.send(path.format(latest), fields).status_code, range(MANY_IMPORTS))
            wait_for(lambda: slots_used_by(IMPORTS, office.site.site.database) == MANY_IMPORTS)
            assert max(waiting_for_locks(shop) for _ in range(20)) <= AT_A_TIME
            assert all(person.get("/order").status_code == 200 for _ in range(5))
            locking.rollback()
            found = set(sent)
    assert found <= {303, 409, 503}
    assert 303 in found


def test_many_concurrent_orders_all_succeed(shop: Service) -> None:
    customer, other = shop.customer(), shop.customer()
    shop.refresh()

    async def flood() -> list[httpx2.Response]:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(base_url=shop.url, limits=limits, timeout=60, verify=False) as client:
            orders = [client.post("/order", json=order(), headers={"X-Api-Key": customer.key}) for _ in range(150)]
            return await asyncio.gather(*orders, client.get("/customer", headers={"X-Api-Key": other.key}))

    assert [response.status_code for response in asyncio.run(flood())] == [201] * 150 + [200]


def test_a_request_with_an_incomplete_body_uses_no_slot(shop: Service) -> None:
    customer = shop.customer()
    shop.refresh()
    place = urlsplit(shop.url)
    body = json.dumps(order()).encode()
    head = (
        f"POST /order HTTP/1.1\r\nHost: x\r\nX-Api-Key: {customer.key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    slow = [socket.create_connection((place.hostname, place.port)) for _ in range(2 * AT_A_TIME)]
    try:
        for connection in slow:
            connection.sendall(head.encode() + body[:10])
        assert customer.get("/customer").status_code == 200
        assert customer.post("/order", order()).status_code == 201
        for connection in slow:
            connection.sendall(body[10:])
            assert connection.recv(20).startswith(b"HTTP/1.1 201")
    finally:
        for connection in slow:
            connection.close()


def test_prices_are_refreshed_while_requests_use_all_connections(shop: Service) -> None:
    customer, pool = shop.customer(), shop.application.database.pool
    shop.refresh()
    assert customer.get("/product/PHONE").status_code == 200
    taken = [shop.call(pool.getconn) for _ in range(pool.max_size)]
    try:
        with psycopg.connect(shop.database_url, autocommit=True) as connection:
            connection.execute("update price set single_unit_cost = 51")
            connection.execute("update change set version = version + 1 where topic = 'prices'")
        shop.refresh()
        assert customer.get("/product/PHONE").json()["single_unit_cost"] == 51
    finally:
        for each in taken:
            shop.call(partial(pool.putconn, each))
