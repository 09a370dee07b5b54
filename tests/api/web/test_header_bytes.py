"""The head of every response fits into nginx's default buffer of 4 KB, however long the query is."""

import re
import socket
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from support.orders import buy
from support.service import Customer, Service
from support.shop import ORIGIN, shop_with_all_headers

MOST_BYTES = 4096
LINK = re.compile(r'<([^>]*)>; rel="([a-z]+)"')


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with shop_with_all_headers(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    made = service.customer()
    for _ in range(3):
        buy(made)
    service.refresh()
    return made


def head_of(service: Service, path: str, *headers: str) -> bytes:
    """Return the head of a response, with its status line and the empty line."""
    address = urlsplit(service.url)
    lines = [f"GET {path} HTTP/1.1", "Host: shop", f"X-Request-Id: {'i' * 128}", *headers]
    received = b""
    with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in received:
            piece = connection.recv(65536)
            assert piece
            received += piece
    head, end, _ = received.partition(b"\r\n\r\n")
    return head + end


def links(head: bytes) -> dict[str, str]:
    found = re.search(rb"\r\nlink: ([^\r]*)", head)
    return {rel: url for url, rel in LINK.findall(found[1].decode())} if found else {}


names = st.sampled_from(["x", "api-key", "manufacturer", "é"])
values = st.builds(lambda character, count: character * count, st.sampled_from("yé,+ "), st.integers(0, 900))
parts = st.lists(st.tuples(names, values), max_size=9)


@fuzzed(60)
@given(parts, st.sampled_from(["/product", "/order", "/product/PHONE"]), st.sampled_from([f"Origin: {ORIGIN}", "A: b"]))
def test_the_head_is_short_whatever_the_query(
    service: Service, customer: Customer, query: list[tuple[str, str]], path: str, origin: str
) -> None:
    text = "&".join(f"{quote(name)}={quote(value)}" for name, value in query)
    target = f"{path}?page=999999999999999999&limit=1&{text}"
    for _ in range(3):
        head = head_of(service, target, f"X-Api-Key: {customer.key}", "Accept-Encoding: gzip", origin)
        assert len(head) <= MOST_BYTES


@pytest.mark.parametrize("path", ["/product", "/order"])
@pytest.mark.parametrize(
    ("length", "kept"),
    [(500, {"first", "prev", "next", "last"}), (700, {"prev", "next", "last"}), (1100, {"prev", "next"}),
     (2400, {"next"}), (2500, set()), (60_000, set())],
)  # fmt: skip
def test_next_is_kept_longest(service: Service, customer: Customer, path: str, length: int, kept: set[str]) -> None:
    target = f"{path}?limit=1&page=2&x={'y' * length}"
    for _ in range(3):
        head = head_of(service, target, f"X-Api-Key: {customer.key}", "Accept: application/json")
        assert head.startswith(b"HTTP/1.1 200")
        assert set(links(head)) == kept
        assert all(f"x={'y' * length}&" in url for url in links(head).values())
        assert b"\r\nx-total-pages: " in head


def test_error_and_service_responses_are_short_too(service: Service, customer: Customer) -> None:
    long = "z" * 8_000
    key = f"X-Api-Key: {customer.key}"
    for path in (
        f"/?{long}",
        f"/{long}",
        f"/product?sort={long}",
        f"/order/{long}",
        f"/docs?{long}",
        f"/product/{long}",
    ):
        assert len(head_of(service, path, key, f"Origin: {ORIGIN}")) <= MOST_BYTES
