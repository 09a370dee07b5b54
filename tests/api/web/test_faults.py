"""Faults (500) and an absent database (503): reported, nothing half-written, and the service recovers by itself."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from starlette.datastructures import Headers
from starlette.types import Message
from structlog.testing import capture_logs

from support.cluster import Cluster
from support.error_bodies import error_body
from support.orders import confirm, create
from support.outage import database_away
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD, order
from support.waiting import break_connection, waiting_for_a_lock
from support.written import written

AWAY = error_body("unavailable", "the service is temporarily unavailable; try again in 5 seconds")


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@contextmanager
def without_table(service: Service, table: str) -> Iterator[None]:
    """Hide a table while the block runs."""

    def rename(old: str, new: str) -> None:
        with psycopg.connect(service.database_url, autocommit=True) as connection:
            connection.execute(SQL("alter table {} rename to {}").format(Identifier(old), Identifier(new)))

    rename(table, "without_table")
    try:
        yield
    finally:
        rename("without_table", table)


@pytest.mark.spec("7 500", "an unexpected error")
def test_a_fault_is_a_500_with_the_request_id_and_no_details(shop: Service, customer: Customer) -> None:
    with without_table(shop, "address"):
        named = customer.get("/customer/address", headers={"X-Request-Id": "ticket-7"})
        unnamed = customer.post("/customer/address", ADDRESS)
    assert (named.status_code, unnamed.status_code) == (500, 500)
    why = "unexpected error; quote request ticket-7 when you contact support"
    assert named.json() == error_body("internal_error", why)
    assert unnamed.headers["X-Request-Id"] in unnamed.json()["message"]
    assert named.headers["X-Request-Id"] == "ticket-7"
    assert named.headers["content-type"] == "application/json"
    assert customer.get("/customer/address").status_code == 200


@pytest.mark.parametrize("path", ["/product", "/customer", "/"])
def test_a_request_whose_head_cannot_be_read_is_a_500_with_a_request_id(shop: Service, path: str) -> None:
    """The server below breaks ASGI, which has headers as bytes."""
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": path, "query_string": b"",
        "headers": [(b"host", b"api.example"), (b"x-api-key", "text")], "client": ("192.0.2.1", 50_000),
    }  # fmt: skip
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    with capture_logs() as logs:
        shop.call(lambda: shop.application(scope, receive, send))
    assert [entry["event"] for entry in logs] == ["unexpected error", "request"]
    start, body = sent
    headers = Headers(raw=start["headers"])
    assert (start["status"], headers["content-type"]) == (500, "application/json")
    request_id = headers["X-Request-Id"]
    assert (
        json.loads(body["body"])["message"] == f"unexpected error; quote request {request_id} when you contact support"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_fault_during_a_transaction_writes_nothing(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    before = written(shop)
    with without_table(shop, "order_line"):
        assert customer.post("/order", order()).status_code == 500
    with without_table(shop, "stock_level"):
        assert confirm(customer, pending).status_code == 500
        placed = customer.post("/order", order(auto_confirm=True, shipping_method={"id": STANDARD}))
        assert placed.status_code == 500
    assert written(shop) == before
    assert confirm(customer, pending).status_code == 200


def test_a_lost_connection_during_an_order_is_a_503_and_writes_nothing(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    before = written(shop)
    with psycopg.connect(shop.database_url) as holder:
        holder.execute("lock table credit_exposure in access exclusive mode")
        responses: list[Any] = []
        waiting = threading.Thread(target=lambda: responses.append(confirm(customer, pending)))
        waiting.start()
        break_connection(shop.database_url, waiting_for_a_lock(shop.database_url))
        waiting.join(timeout=30)
    assert (responses[0].status_code, responses[0].json()) == (503, AWAY)
    assert written(shop) == before
    assert confirm(customer, pending).status_code == 200


def requests_without_connection(service: Service) -> int:
    """Return the number of requests that got no connection."""
    return service.application.database.pool.get_stats().get("requests_errors", 0)


@pytest.mark.spec("5 Authentication", "503 while the database is down")
@pytest.mark.spec("7 503", "temporarily unavailable")
def test_an_absent_database_is_a_503_until_it_returns(shop: Service, customer: Customer, postgres: Cluster) -> None:
    pending = create(customer)
    before = written(shop)
    with database_away(postgres, shop.database_url):
        responses = [confirm(customer, pending)]
        while requests_without_connection(shop) == 0:  # the first requests get broken connections
            responses.append(customer.post("/order", order()))
        for response in responses:
            assert (response.status_code, response.json()) == (503, AWAY)
            assert response.headers["Retry-After"] == "5"
            assert response.headers["X-Request-Id"]
        assert shop.client().get("/check-health").status_code == 200
        assert shop.client().get("/").status_code == 200
        assert shop.client().get("/nowhere").status_code == 404
        assert shop.client().delete("/order").status_code == 405
        assert shop.client().get("/customer").status_code == 401
    shop.reconnect()
    assert written(shop) == before
    assert customer.get("/customer").status_code == 200
    assert confirm(customer, pending).status_code == 200
    assert customer.post("/order", order()).status_code == 201
    assert written(shop) != before


@pytest.mark.sweep
def test_an_outage_is_one_line_in_the_log_and_not_one_for_each_request(
    shop: Service, customer: Customer, postgres: Cluster
) -> None:
    with capture_logs() as logs, database_away(postgres, shop.database_url):
        for _ in range(6):
            assert customer.get("/order").status_code == 503
    shop.reconnect()
    lines = [entry for entry in logs if entry["event"] == "database away"]
    assert len(lines) <= 1
    assert all(line["log_level"] == "warning" for line in lines)
    assert len([entry for entry in logs if entry["event"] == "request"]) == 6
