"""A schema change under a running service, as by `db upgrade`: reads succeed, writes get 503 once."""

from collections.abc import Iterator
from typing import LiteralString

import httpx2
import psycopg
import pytest

from support.cluster import Cluster
from support.orders import buy, confirm, create, faults_in_the_books, in_parallel
from support.service import Customer, Service, running_service
from support.shop import order, stock_shop
from tradecounter.db.pool import Database


@pytest.fixture(scope="module")
def shop(postgres: Cluster) -> Iterator[Service]:
    with postgres.database() as url, running_service(url) as service:
        stock_shop(service)
        yield service


@pytest.fixture
def customer(shop: Service) -> Customer:
    found = shop.customer()
    shop.refresh()
    return found


def change(service: Service, statement: LiteralString) -> None:
    with psycopg.connect(service.database_url, autocommit=True) as connection:
        connection.execute(statement)


def forget_prepared_statements(service: Service) -> None:
    """Drop prepared statements, as a pooler between service and database may."""
    database: Database = service.application.database

    async def forget() -> None:
        async with database.pool.connection() as connection:
            await connection.execute("deallocate all")

    service.call(forget)


def use_connections(service: Service, count: int) -> None:
    """Keep that many connections open, in addition to those opened on demand."""
    pool = service.application.database.pool
    service.call(lambda: pool.resize(count, pool.max_size))
    service.call(pool.wait)


def test_reads_succeed_after_a_column_changes_its_type(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    paths = [f"/order/{placed['order_id']}", "/order", "/customer/credit"]
    calls = [lambda path=path: customer.get(path).status_code for path in paths * 10]
    use_connections(shop, 3)
    for path in paths:
        assert {customer.get(path).status_code for _ in range(6)} == {
            200
        }  # prepared on each connection, since the pool rotates them
    change(shop, "alter table orders alter column customer_reference type varchar(500)")
    for path in paths:  # one by one, so that the next connection would fail too
        assert customer.get(path).status_code == 200
    assert set(in_parallel(calls)) == {200}
    forget_prepared_statements(shop)
    assert set(in_parallel(calls)) == {200}


def test_writes_get_503_once_and_then_succeed(shop: Service, customer: Customer) -> None:
    pending = create(customer)

    def place(number: int) -> httpx2.Response:
        return customer.post("/order", order(), headers={"Idempotency-Key": f"key-{number}"})

    in_parallel([lambda: create(customer)] * 10)  # prepared on several connections
    change(shop, "alter table customer alter column credit_limit type numeric(15, 2)")
    first = [place(number) for number in range(10)]
    assert {response.status_code for response in first} == {201, 503}
    assert {response.headers.get("Retry-After", "5") for response in first} == {"5"}
    for number, response in enumerate(first):
        again = place(number)
        assert (again.status_code, "Idempotent-Replay" in again.headers) == (201, response.status_code == 201)
    assert confirm(customer, pending).status_code == 200
    assert faults_in_the_books(shop) == {}
