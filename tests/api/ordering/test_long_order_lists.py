"""`GET /order?limit=0` with many orders: sent in batches, and cut off after an error."""

import asyncio
import csv
import io
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest

from support.orders import buy, cancel
from support.service import Customer, Service
from support.slow_reader import slow_reader

MANY = 205  # three batches
MANY_LINES = [("CABLE", 1)] * 300  # two of these orders fill a batch
CSV = {"Accept": "text/csv"}
WHOLE = {"limit": 0}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    """A customer with that many orders."""
    customer = shop.customer()
    for number in range(MANY):
        buy(customer, [("CABLE", 1)], customer_reference=f"PO-{number}")
    return customer


def pages(customer: Customer, **options: Any) -> Iterator[httpx2.Response]:
    """Yield all pages of a hundred orders."""
    for page in (1, 2, 3):
        yield customer.get("/order", params={"page": page}, **options)


def ids(orders: list[dict[str, Any]]) -> list[int]:
    return [order["id"] for order in orders]


@pytest.mark.sweep
def test_the_whole_history_in_json_is_all_pages_together(customer: Customer) -> None:
    whole = customer.get("/order", params=WHOLE)
    assert "Content-Length" not in whole.headers, "the response is chunked"
    assert whole.json() == [order for page in pages(customer) for order in page.json()]
    assert len(whole.json()) == MANY
    assert whole.headers["X-Total-Count"] == str(MANY)


@pytest.mark.sweep
def test_the_whole_history_in_csv_is_all_pages_together(customer: Customer) -> None:
    whole = customer.get("/order", params=WHOLE, headers=CSV)
    assert "Content-Length" not in whole.headers, "the response is chunked"
    rows = list(csv.reader(io.StringIO(whole.text, newline="")))
    expected = [list(csv.reader(io.StringIO(page.text, newline=""))) for page in pages(customer, headers=CSV)]
    assert rows == [expected[0][0], *(row for page in expected for row in page[1:])]
    assert len(rows) == MANY + 1


def test_a_page_of_short_orders_is_not_chunked(customer: Customer) -> None:
    assert all("Content-Length" in page.headers for page in pages(customer))


@pytest.mark.sweep
def test_a_page_of_orders_with_many_lines_is_chunked(shop: Service) -> None:
    customer = shop.customer()
    placed = [buy(customer, MANY_LINES)["order_id"] for _ in range(5)]
    response = customer.get("/order")
    assert "Content-Length" not in response.headers
    assert ids(response.json()) == placed[::-1]
    assert [len(order["items"]) for order in response.json()] == [300] * 5


def test_head_has_the_same_headers_and_no_body(customer: Customer) -> None:
    head, get = (customer.http.request(method, "/order", params=WHOLE) for method in ("HEAD", "GET"))
    assert head.content == b""
    names = ("X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages", "Link", "Content-Type")
    assert [head.headers[name] for name in names] == [get.headers[name] for name in names]


def test_later_orders_are_excluded_and_cancelled_ones_are_marked(shop: Service, customer: Customer) -> None:
    before = customer.get("/order", params=WHOLE).json()
    oldest = {"order_reference": before[-1]["order_reference"]}
    with slow_reader(shop, customer, "/order?limit=0") as reader:
        start, first = reader.take(), reader.take()
        assert first["more_body"]
        cancel(shop, oldest)
        added = buy(customer, [("CABLE", 1)])
        body = json.loads(first["body"] + reader.rest())
    assert (b"x-total-count", b"%d" % len(before)) in start["headers"]
    assert ids(body) == ids(before)
    assert {order["status"] for order in body[:-1]} == {"Awaiting dispatch"}
    assert body[-1]["status"] == "Cancelled"
    after = customer.get("/order", params=WHOLE).json()
    assert ids(after) == [added["order_id"], *ids(before)[:-1]]


def test_no_transaction_is_open_while_the_client_does_not_read(shop: Service, customer: Customer) -> None:
    with (
        slow_reader(shop, customer, "/order?limit=0") as reader,
        psycopg.connect(shop.database_url, autocommit=True) as connection,
    ):
        reader.take()
        reader.take()
        open_transactions = connection.execute(
            "select state from pg_stat_activity"
            " where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()"
        ).fetchall()
        assert open_transactions == []
        reader.rest()


@pytest.mark.sweep
def test_a_long_list_waits_only_for_its_own_customers_lists(shop: Service, customer: Customer) -> None:
    other = shop.customer()
    for _ in range(3):
        buy(other, MANY_LINES)
    handlers = (e.handler for e in shop.application.endpoints if e.operation.name == "listOrders")
    locks = next(handlers).__self__.list_locks  # type: ignore[attr-defined]

    async def release(lock: asyncio.Lock) -> None:
        lock.release()

    with slow_reader(shop, customer, "/order?limit=0") as reader:
        reader.take()
        lock = locks[customer.id]
        shop.call(lock.acquire)
        assert len(other.get("/order", params=WHOLE).json()) == 3
        shop.call(lambda: release(lock))
        assert len(json.loads(reader.rest())) > MANY - 5


@pytest.fixture(scope="module")
def damaged(shop: Service) -> Customer:
    """A customer with an unreadable order in the second batch."""
    customer = shop.customer()
    placed = [buy(customer, MANY_LINES) for _ in range(3)]
    with psycopg.connect(shop.database_url, autocommit=True) as connection:
        connection.execute("update orders set billing_address = '{}' where id = %s", [placed[0]["order_id"]])
    return customer


@pytest.mark.sweep
@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_an_error_during_the_response_closes_the_connection(damaged: Customer, accept: str, coding: str) -> None:
    headers = {"Accept": accept, "Accept-Encoding": coding}
    with pytest.raises(httpx2.RemoteProtocolError, match="incomplete chunked read"):
        damaged.get("/order", params=WHOLE, headers=headers)
    assert damaged.get("/order", params={"limit": 1}).status_code == 200


def old_client(customer: Customer, path: str) -> tuple[bytes, bytes]:
    """Return the head and body for an HTTP/1.0 client, such as nginx with its default settings."""
    address = urlsplit(str(customer.http.base_url))
    request = f"GET {path} HTTP/1.0\r\nHost: shop\r\nX-Api-Key: {customer.key}\r\nAccept: application/json\r\n\r\n"
    received = b""
    with socket.create_connection((address.hostname, address.port or 0), timeout=30) as connection:
        connection.sendall(request.encode())
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return head, body


def test_an_http_1_0_client_gets_the_whole_body_with_its_length(customer: Customer) -> None:
    head, body = old_client(customer, "/order?limit=0")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert f"content-length: {len(body)}".encode() in head.lower()
    assert ids(json.loads(body)) == ids(customer.get("/order", params=WHOLE).json())


def test_an_error_during_the_response_is_a_500_for_an_http_1_0_client(damaged: Customer) -> None:
    head, body = old_client(damaged, "/order?limit=0")
    assert head.startswith(b"HTTP/1.1 500 ")
    assert json.loads(body)["message"].startswith("unexpected error; quote request ")
