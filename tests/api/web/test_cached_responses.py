"""Reads that are answered from memory: what they say is what the endpoints would have said, to the byte."""

import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.service import Customer, Service, running_service
from support.shop import price, stock_shop
from tradecounter.web.fast_path.middleware import FastResponse

PLACE = "https://api.example"
TAG = '"' + "0123456789abcdef" * 2 + '"'

Header = tuple[str, str]


@dataclass(frozen=True)
class Twins:
    """Two servers on one database, of which one remembers nothing; and customers of both."""

    remembering: Service
    plain: Service
    customers: list[Customer]


@pytest.fixture(scope="module")
def twins(database_url: str) -> Iterator[Twins]:
    with (
        running_service(database_url, base_url=PLACE) as remembering,
        running_service(database_url, base_url=PLACE, answer_memory=0) as plain,
    ):
        stock_shop(remembering)
        remembering.must_load("price-list", [price("PHONE", 48, price_list="gold")])
        yield Twins(
            remembering,
            plain,
            [remembering.customer(), remembering.customer(price_list="gold"), remembering.customer(discount=7)],
        )


@pytest.fixture(autouse=True)
def fresh(twins: Twins) -> None:
    catch_up(twins)


def catch_up(twins: Twins) -> None:
    """Let the servers hear of the database, without which no credential is known by heart."""
    twins.remembering.refresh()
    twins.plain.refresh()


def asked(
    service: Service, customer: Customer, path: str, headers: list[Header], method: str = "GET"
) -> httpx2.Response:
    """Ask a server; headers may repeat, and nothing is sent but these and the key."""
    own = [("Host", "shop.example"), ("X-Api-Key", customer.key)]
    if "X-Forwarded-For" not in dict(headers):  # the same text each time, which the server then knows
        own.append(("X-Forwarded-For", "198.51.100.7"))
    client = service.clients[0] if service.clients else service.client()
    return client.send(httpx2.Request(method, service.url + path, headers=[*own, *headers]))


def said(response: httpx2.Response) -> tuple[Any, ...]:
    """All that a response says that is not of this one request."""
    own = {"date", "x-request-id"}
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
held = st.sampled_from(
    ["", "the tag", "the tag, in gzip", "the tag, weak", "the tag and another", TAG, TAG[:-1] + '-br"', "*", "nonsense"]
)
others = st.sampled_from(
    [[], [("X-Request-Id", "mine-1")], [("X-Request-Id", "not sane")], [("Origin", "https://shop.example")],
     [("Content-Length", "0")], [("X-Forwarded-For", "192.0.2.1")], [("Range", "bytes=0-9")]]
)  # fmt: skip
skus = st.sampled_from([None, None, "PHONE", "phone", "SW%2F1", "NOBODY"])
queries = st.sampled_from(
    ["", "?limit=100", "?limit=100&page=3", "?limit=3&sort=price", "?limit=3&sort=price&inStock=true", "?query=phone",
     "?query=ip%20phone&limit=5&extra=description,related", "?limit=2&unknown=1", "?limit=501", "?page=99999",
     "?accept=text/csv&limit=4", "?manufacturer=nobody", "?reduced=true&clearance=false", "?inStock=true&limit=0"]
)  # fmt: skip


def held_by_client(kind: str, tag: str) -> list[Header]:
    named = {
        "the tag": tag,
        "the tag, in gzip": f'{tag[:33]}-gzip"',
        "the tag, weak": f"W/{tag}",
        "the tag and another": f"{TAG}, {tag}",
    }.get(kind, kind)
    return [("If-None-Match", named)] if kind else []


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.integers(0, 2), skus, queries, accepts, codings, held, others,
    st.sampled_from(["GET", "GET", "GET", "HEAD"]),
)  # fmt: skip
def test_an_answer_from_memory_is_the_endpoints_answer(
    twins: Twins, who: int, sku: str | None, query: str, accept: list[Header], coding: list[Header], kind: str,
    other: list[Header], method: str,
) -> None:  # fmt: skip
    catch_up(twins)
    customer = twins.customers[who]
    path = f"/product{query}" if sku is None else f"/product/{sku}{query}"
    first = asked(twins.plain, customer, path, [*accept, *coding])
    headers = [*accept, *coding, *held_by_client(kind, first.headers.get("etag", TAG)), *other]
    expected = said(asked(twins.plain, customer, path, headers, method))
    for _ in range(3):
        assert said(asked(twins.remembering, customer, path, headers, method)) == expected


def at_hand(service: Service, response: httpx2.Response) -> FastResponse | None:
    """What the server would answer at once to a request that got a response."""
    fast_path = service.application.fast_path
    head = fast_path.read(scope_of(response))
    return None if head is None else fast_path.respond(fast_path.context(head, ("127.0.0.1", 1)))


def scope_of(response: httpx2.Response) -> dict[str, Any]:
    """The request that got a response, as the server sees it."""
    request = response.request
    headers = [(name.lower(), value) for name, value in request.headers.raw]
    path, query = request.url.path, request.url.query
    where = {"path": path, "query_string": query, "headers": headers, "client": ("127.0.0.1", 1)}
    return {"type": "http", "http_version": "1.1", "method": "GET", **where}


@pytest.mark.parametrize("path", ["/product?limit=5", "/product?limit=5&sort=price", "/product/PHONE"])
def test_an_answer_that_was_given_is_at_hand(twins: Twins, path: str) -> None:
    asked(twins.remembering, twins.customers[0], "/product", [])  # from here on the key is known by heart
    response = asked(twins.remembering, twins.customers[0], path, [("Accept", "application/json")])
    repeated = at_hand(twins.remembering, response)
    assert repeated is not None
    assert b"".join(repeated.cached.blocks) == response.content


def test_an_unchanged_poll_is_at_hand(twins: Twins) -> None:
    path, json = "/product?limit=6", ("Accept", "application/json")
    tag = asked(twins.remembering, twins.customers[0], path, [json]).headers["etag"]
    for _ in range(2):
        poll = asked(twins.remembering, twins.customers[0], path, [json, ("If-None-Match", tag)])
    assert poll.status_code == HTTPStatus.NOT_MODIFIED
    repeated = at_hand(twins.remembering, poll)
    assert repeated is not None
    assert repeated.cached.status == HTTPStatus.NOT_MODIFIED


def test_customers_with_other_prices_do_not_share_answers(twins: Twins) -> None:
    path = "/product?limit=50&sort=sku"
    bodies = [asked(twins.remembering, c, path, [("Accept", "application/json")]).json() for c in twins.customers]
    costs = [[product["single_unit_cost"] for product in body] for body in bodies]
    assert all(costs[i] != costs[j] for i in range(3) for j in range(i))


def test_a_disabled_memory_keeps_nothing_at_hand(twins: Twins) -> None:
    response = asked(twins.plain, twins.customers[0], "/product?limit=5", [("Accept", "application/json")])
    assert at_hand(twins.plain, response) is None


def test_remembered_answers_keep_their_places_among_pipelined_requests(twins: Twins) -> None:
    service, key = twins.remembering, twins.customers[0].key
    paths = ["/product", "/order", "/product?limit=7", "/customer", "/product?limit=7", "/product?limit=7", "/order"]
    asked(service, twins.customers[0], "/product?limit=7", [])
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


def test_a_request_known_by_its_text_is_answered_the_same_however_it_arrives(twins: Twins) -> None:
    service = twins.remembering
    texts = [
        f"GET /product?limit=8 HTTP/1.1\r\nHost: shop.example\r\nX-Api-Key: {customer.key}\r\n\r\n".encode()
        for customer in twins.customers
    ]
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:

        def ask(*pieces: bytes, responses: int = 1) -> list[bytes]:
            """Send pieces one by one; the bodies that come back."""
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.05)  # so that it arrives on its own
            reading, bodies = connection.makefile("rb"), []
            for _ in range(responses):
                head = b"".join(iter(reading.readline, b"\r\n"))
                length = re.search(rb"content-length: (\d+)", head)
                assert length
                bodies.append(reading.read(int(length[1])))
            return bodies

        expected = [ask(text)[0] for text in texts for _ in range(3)][::3]
        assert len(set(expected)) == len(texts)
        for text, body in zip(texts, expected, strict=True):
            assert ask(text) == [body]
            assert ask(text[:20], text[20:]) == [body]
            assert ask(text + text, responses=2) == [body, body]
            assert ask(text + text[:-1], text[-1:], responses=2) == [body, body]
            assert ask(b"\r\n" + text) == [body]
        assert ask(b"".join(texts), responses=len(texts)) == expected
