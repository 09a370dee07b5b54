"""Cached responses on the wire: their framing, their customers, and what is never cached."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from http.client import HTTPResponse
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from support.cluster import Cluster
from support.service import Customer, Service, running_service
from support.shop import price, product, stock_shop
from tradecounter.db.transaction import Transaction
from tradecounter.identity.queries.api_keys import disable_key, list_keys

PRODUCTS = [f"P{number}" for number in range(510)]  # more than a page, so the whole list is chunked


class Received(NamedTuple):
    head: HTTPResponse
    body: bytes


@pytest.fixture(scope="module")
def many(database_url: str) -> Iterator[Service]:
    with running_service(database_url) as service:
        stock_shop(service)
        service.must_load("products", [product(sku) for sku in PRODUCTS])
        service.must_load("price-list", [price(sku, 5) for sku in PRODUCTS])
        yield service


@pytest.fixture(scope="module")
def customer(many: Service) -> Customer:
    made = many.customer()
    assert made.get("/customer").status_code == HTTPStatus.OK  # the key is cached from here on
    return made


def request(customer: Customer, path: str, *headers: str, version: str = "1.1") -> bytes:
    lines = [f"GET {path} HTTP/{version}", f"X-Api-Key: {customer.key}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def responses(service: Service, *requests: bytes) -> list[Received]:
    """Send requests one by one on one connection, and read each response to its stated end."""
    service.refresh()  # without a recent refresh, no credential is cached
    address = urlsplit(service.url)
    found = []
    with socket.create_connection((address.hostname, address.port or 0), timeout=5) as connection:
        for sent in requests:
            connection.sendall(sent)
            head = HTTPResponse(connection)
            head.begin()
            found.append(Received(head, head.read()))
    return found


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("coding", ["zstd", "br", "gzip", "identity"])
@pytest.mark.parametrize("accept", ["text/csv", "application/json"])
def test_a_long_response_ends_where_it_says_even_when_cached(
    many: Service, customer: Customer, coding: str, accept: str
) -> None:
    wanted = request(customer, "/product?limit=0", "Host: shop", f"Accept: {accept}", f"Accept-Encoding: {coding}")
    first, *others = responses(many, wanted, wanted, wanted)
    assert first.body
    assert all(other.body == first.body for other in others)
    assert {other.head.headers["Content-Length"] for other in others} == {str(len(first.body))}


def test_an_http_1_0_client_gets_no_chunks(many: Service, customer: Customer) -> None:
    chunked, *_ = responses(many, *[request(customer, "/product", "Host: shop")] * 2)
    for _ in range(2):
        (whole,) = responses(many, request(customer, "/product", "Host: shop", version="1.0"))
        assert "Transfer-Encoding" not in whole.head.headers
        assert whole.head.headers["Content-Length"] == str(len(chunked.body))
        assert whole.body == chunked.body


def test_links_without_a_host_header_use_the_connections_address(many: Service, customer: Customer) -> None:
    many.refresh()
    head = [(b"x-api-key", customer.key.encode())]
    where = {"path": "/product", "query_string": b"limit=9", "http_version": "1.1", "client": ("127.0.0.1", 1)}
    responses(many, request(customer, "/product?limit=9", version="1.0"))
    read = many.application.fast_path.read_head({"type": "http", "method": "GET", "headers": head, **where})
    assert read is not None
    assert read.key is None


def test_interrupted_responses_are_not_cached(many: Service, customer: Customer) -> None:
    wanted = request(customer, "/product?limit=0&unknown=broken-off", "Host: shop")
    address = urlsplit(many.url)
    for _ in range(20):
        with socket.create_connection((address.hostname, address.port or 0), timeout=5) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.sendall(wanted)
            connection.recv(100)
    (whole,) = responses(many, wanted)
    assert whole.body.count(b"\r\n") == len(PRODUCTS) + 4


def test_changes_show_in_the_next_response(many: Service) -> None:
    """Cover a price, stock, a contract price that begins at midnight in London, and a withdrawn product."""
    customer, other = many.customer(), many.customer()
    wanted = [request(customer, "/product?limit=2&query=SWITCH", "Host: shop", "Accept: application/json")] * 3
    seen = {response.body for response in responses(many, *wanted)}

    def is_new() -> bool:
        bodies = {response.body for response in responses(many, *wanted)}
        new = len(bodies) == 1 and not bodies & seen
        seen.update(bodies)
        return new

    many.must_load("price-list", [price("SWITCH", 311)])
    assert is_new()
    many.must_load("stock", [{"sku": "SWITCH", "available": 77}])
    assert is_new()
    many.must_load(
        "contract-prices",
        [{"customer_id": customer.id, "sku": "SWITCH", "single_unit_cost": 9, "valid_from": "2026-06-17"}],
    )
    many.clock.advance(timedelta(hours=14, minutes=59))  # 22:59 UTC is 23:59 in London
    assert not is_new()
    many.clock.advance(timedelta(minutes=1))
    assert is_new()
    theirs = responses(many, *[request(other, "/product?query=SWITCH", "Host: shop", "Accept: application/json")] * 2)
    assert all(b'"single_unit_cost":311.00' in response.body for response in theirs)
    many.must_load("products", [product("SWITCH", weight_kg=5, active=False)])
    assert is_new()


def test_a_disabled_key_gets_no_cached_response(many: Service) -> None:
    customer = many.customer()
    wanted = request(customer, "/product?limit=8", "Host: shop")
    assert [response.head.status for response in responses(many, wanted, wanted, wanted)] == [200] * 3

    async def disable(tx: Transaction) -> None:
        for key in await list_keys(tx, customer.id):
            await disable_key(tx, key.id, many.clock.now())

    many.in_transaction(disable)
    assert [response.head.status for response in responses(many, wanted, wanted)] == [401] * 2


def test_a_blocked_address_gets_no_cached_response(many: Service, customer: Customer) -> None:
    from_there = ("Host: shop", "X-Forwarded-For: 192.0.2.77")
    good = request(customer, "/product?limit=8", *from_there)
    bad = good.replace(customer.key.encode(), b"0" * len(customer.key))
    assert [response.head.status for response in responses(many, *[good] * 3, *[bad] * 10, good)] == [200] * 3 + [
        401
    ] * 10 + [403]


def test_cached_responses_count_against_the_rate_limit(postgres: Cluster) -> None:
    with postgres.database() as url, running_service(url, rate_limit=6) as service:
        customer, other = service.customer(), service.customer()
        wanted, theirs = (request(c, "/product?limit=8", "Host: shop") for c in (customer, other))
        found = responses(service, wanted, wanted, theirs, wanted, theirs, *[wanted] * 4)
    assert [response.head.status for response in found] == [200] * 8 + [429]
    remaining = [response.head.headers["RateLimit"].split(";")[1] for response in found]
    assert remaining == ["r=5", "r=4", "r=5", "r=3", "r=4", "r=2", "r=1", "r=0", "r=0"]
    assert len({response.head.headers["X-Request-Id"] for response in found}) == len(found)
