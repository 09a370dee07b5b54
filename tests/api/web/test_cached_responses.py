"""Cached responses equal the endpoints' responses byte for byte."""

import re
import socket
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.service import Customer, Service
from support.twins import Twins, running_twins
from tradecounter.sites.http.fast_path.middleware import FastResponse

PLACE = "https://api.example"
TAG = '"' + "0123456789abcdef" * 2 + '"'

Header = tuple[str, str]


@pytest.fixture(scope="module")
def twins(database_url: str) -> Iterator[Twins]:
    with running_twins(database_url, {}, {"price_list": "gold"}, {"discount": 7}, base_url=PLACE) as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(twins: Twins) -> None:
    twins.refresh()


def fetch(
    service: Service, customer: Customer, path: str, headers: list[Header], method: str = "GET"
) -> httpx2.Response:
    """Send a request with only the key and these headers, which may repeat."""
    own = [("Host", "shop.example"), ("X-Api-Key", customer.key)]
    if "X-Forwarded-For" not in dict(headers):  # identical bytes each time, so that the fast path matches
        own.append(("X-Forwarded-For", "198.51.100.7"))
    client = service.clients[0] if service.clients else service.client()
    return client.send(httpx2.Request(method, service.url + path, headers=[*own, *headers]))


def content_of(response: httpx2.Response) -> tuple[Any, ...]:
    """Return everything in a response that does not depend on the single request."""
    own = {"date", "x-cursor", "x-request-id"}
    headers = sorted(item for item in response.headers.multi_items() if item[0] not in own)
    return response.status_code, headers, response.content


accepts = st.sampled_from(
    [[], [("Accept", "application/json")], [("Accept", "text/csv")], [("Accept", "*/*")],
     [("Accept", "text/csv;q=0.5, application/json")], [("Accept", "text/csv"), ("Accept", "application/json")]]
)  # fmt: skip
codings = st.sampled_from(
    [[], [("Accept-Encoding", "identity")], [("Accept-Encoding", "gzip")], [("Accept-Encoding", "zstd, br, gzip")],
     [("Accept-Encoding", "gzip;q=0, br")], [("Accept-Encoding", "gzip"), ("Accept-Encoding", "zstd")]]
)  # fmt: skip
conditions = st.sampled_from(
    ["", "the tag", "the tag, in gzip", "the tag, weak", "the tag and another", TAG, TAG[:-1] + '-br"', "*", "nonsense"]
)
others = st.sampled_from(
    [[], [("X-Request-Id", "mine-1")], [("X-Request-Id", "not sane")], [("Origin", "https://shop.example")],
     [("Content-Length", "0")], [("X-Forwarded-For", "192.0.2.1")], [("Range", "bytes=0-9")]]
)  # fmt: skip
skus = st.sampled_from([None, None, "PHONE", "phone", "SW%2F1", "NOBODY"])
queries = st.sampled_from(
    ["", "?limit=100", "?limit=100&page=3", "?limit=3&sort=price", "?limit=3&sort=price&inStock=true", "?query=phone",
     "?query=ip%20phone&limit=5&extra=description,related", "?query=phnoe", "?limit=2&unknown=1",
     "?limit=501", "?page=99999", "?accept=text/csv&limit=4", "?manufacturer=nobody",
     "?reduced=true&clearance=false", "?inStock=true&limit=0"]
)  # fmt: skip


def if_none_match(kind: str, tag: str) -> list[Header]:
    named = {
        "the tag": tag,
        "the tag, in gzip": f'{tag[:33]}-gzip"',
        "the tag, weak": f"W/{tag}",
        "the tag and another": f"{TAG}, {tag}",
    }.get(kind, kind)
    return [("If-None-Match", named)] if kind else []


@pytest.mark.sweep
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.integers(0, 2), skus, queries, accepts, codings, conditions, others,
    st.sampled_from(["GET", "GET", "GET", "HEAD"]),
)  # fmt: skip
def test_a_cached_response_equals_the_endpoints_response(
    twins: Twins, who: int, sku: str | None, query: str, accept: list[Header], coding: list[Header], kind: str,
    other: list[Header], method: str,
) -> None:  # fmt: skip
    twins.refresh()
    customer = twins.customers[who]
    path = f"/product{query}" if sku is None else f"/product/{sku}{query}"
    first = fetch(twins.plain, customer, path, [*accept, *coding])
    headers = [*accept, *coding, *if_none_match(kind, first.headers.get("etag", TAG)), *other]
    expected = content_of(fetch(twins.plain, customer, path, headers, method))
    for _ in range(3):
        assert content_of(fetch(twins.caching, customer, path, headers, method)) == expected


def fast_response(service: Service, response: httpx2.Response) -> FastResponse | None:
    """Return the response to the request of an earlier response, from the cache."""
    fast_path = service.application.fast_path
    head = fast_path.read_head(scope_of(response))
    found = None if head is None else fast_path.respond(fast_path.context(head, ("127.0.0.1", 1)))
    return None if found is None or found.is_made else found


def scope_of(response: httpx2.Response) -> dict[str, Any]:
    """Return a response's request as an ASGI scope."""
    request = response.request
    headers = [(name.lower(), value) for name, value in request.headers.raw]
    path, query = request.url.path, request.url.query
    where = {"path": path, "query_string": query, "headers": headers, "client": ("127.0.0.1", 1)}
    return {"type": "http", "http_version": "1.1", "method": "GET", **where}


@pytest.mark.parametrize("path", ["/product?limit=5", "/product?limit=5&sort=price", "/product/PHONE"])
def test_a_repeated_request_gets_a_cached_response(twins: Twins, path: str) -> None:
    fetch(twins.caching, twins.customers[0], "/product", [])  # the key is cached from here on
    response = fetch(twins.caching, twins.customers[0], path, [("Accept", "application/json")])
    repeated = fast_response(twins.caching, response)
    assert repeated is not None
    assert b"".join(repeated.cached.blocks) == response.content


@pytest.mark.parametrize(
    ("path", "is_tried"), [("/product/NONE", True), ("/product?sort=none", True), ("/product", False)]
)
def test_what_an_endpoint_must_respond_to_is_tried_once(twins: Twins, path: str, is_tried: bool) -> None:
    response = fetch(twins.caching, twins.customers[0], path, [("Accept", "application/json")])
    fast_path = twins.caching.application.fast_path
    head = fast_path.read_head(scope_of(response))
    assert head is not None
    context = fast_path.context(head, ("127.0.0.1", 1))
    assert (fast_path.respond(context) is None, context.is_tried) == (is_tried, is_tried)


def test_an_unchanged_poll_gets_a_cached_response(twins: Twins) -> None:
    path, json = "/product?limit=6", ("Accept", "application/json")
    tag = fetch(twins.caching, twins.customers[0], path, [json]).headers["etag"]
    for _ in range(2):
        poll = fetch(twins.caching, twins.customers[0], path, [json, ("If-None-Match", tag)])
    assert poll.status_code == HTTPStatus.NOT_MODIFIED
    repeated = fast_response(twins.caching, poll)
    assert repeated is not None
    assert repeated.cached.status == HTTPStatus.NOT_MODIFIED


def test_customers_with_different_prices_do_not_share_responses(twins: Twins) -> None:
    path = "/product?limit=50&sort=sku"
    bodies = [fetch(twins.caching, c, path, [("Accept", "application/json")]).json() for c in twins.customers]
    costs = [[product["single_unit_cost"] for product in body] for body in bodies]
    assert all(costs[i] != costs[j] for i in range(3) for j in range(i))


def test_a_disabled_cache_stores_nothing(twins: Twins) -> None:
    response = fetch(twins.plain, twins.customers[0], "/product?limit=5", [("Accept", "application/json")])
    assert fast_response(twins.plain, response) is None


def test_cached_responses_keep_their_order_among_pipelined_requests(twins: Twins) -> None:
    service, key = twins.caching, twins.customers[0].key
    paths = ["/product", "/order", "/product?limit=7", "/customer", "/product?limit=7", "/product?limit=7", "/order"]
    fetch(service, twins.customers[0], "/product?limit=7", [])
    requests = [
        f"GET {path} HTTP/1.1\r\nHost: shop.example\r\nX-Api-Key: {key}\r\nX-Request-Id: nr-{number}\r\n"
        + ("Connection: close\r\n\r\n" if number == len(paths) - 1 else "\r\n")
        for number, path in enumerate(paths)
    ]
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:
        connection.sendall("".join(requests).encode())
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert re.findall(rb"x-request-id: (\S+)", received) == [b"nr-%d" % number for number in range(len(paths))]


@pytest.mark.sweep
def test_a_request_gets_the_same_response_however_it_is_split(twins: Twins) -> None:
    service = twins.caching
    texts = [
        f"GET /product?limit=8 HTTP/1.1\r\nHost: shop.example\r\nX-Api-Key: {customer.key}\r\n\r\n".encode()
        for customer in twins.customers
    ]
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:

        def send(*pieces: bytes, responses: int = 1) -> list[bytes]:
            """Send pieces one by one, and return the bodies of the responses."""
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.05)  # so that each piece arrives separately
            reading, bodies = connection.makefile("rb"), []
            for _ in range(responses):
                head = b"".join(iter(reading.readline, b"\r\n"))
                length = re.search(rb"content-length: (\d+)", head)
                assert length
                bodies.append(reading.read(int(length[1])))
            return bodies

        expected = [send(text)[0] for text in texts for _ in range(3)][::3]
        assert len(set(expected)) == len(texts)
        for text, body in zip(texts, expected, strict=True):
            assert send(text) == [body]
            assert send(text[:20], text[20:]) == [body]
            assert send(text + text, responses=2) == [body, body]
            assert send(text + text[:-1], text[-1:], responses=2) == [body, body]
            assert send(b"\r\n" + text) == [body]
        assert send(b"".join(texts), responses=len(texts)) == expected
