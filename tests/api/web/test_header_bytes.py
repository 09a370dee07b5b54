"""The head of every response has at most 16 KiB, and every link that exists, however long the query is."""

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

MOST_BYTES = 16 * 1024
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
    fields = re.findall(rb"\r\nlink: ([^\r]*)", head)
    return {rel: url for field in fields for url, rel in LINK.findall(field.decode())}


names = st.sampled_from(["x", "api-key", "manufacturer", "sku", "é"])
values = st.builds(lambda character, count: character * count, st.sampled_from("yé,+ "), st.integers(0, 4_000))
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


FOUR = {"first", "prev", "next", "last"}


@pytest.mark.spec("1 Pagination", "links lead to existing pages and keep the rest of the query")
@pytest.mark.parametrize("path", ["/product", "/order"])
@pytest.mark.parametrize(
    ("length", "page", "limit", "rels", "fields"),
    [(500, 2, 1, FOUR, 1), (1_900, 2, 1, FOUR, 1), (2_100, 2, 1, FOUR, 4), (3_300, 2, 1, FOUR, 4),
     (3_300, 1, 1, FOUR - {"prev"}, 3), (6_700, 1, 100, {"first", "last"}, 2), (60_000, 2, 100, None, 0),
     (3_600, 2, 1, None, 0), (3_600, 1, 1, None, 0), (7_200, 1, 100, None, 0)],
)  # fmt: skip
def test_every_link_that_exists_is_there_or_the_response_is_414(
    service: Service,
    customer: Customer,
    path: str,
    length: int,
    page: int,
    limit: int,
    rels: set[str] | None,
    fields: int,
) -> None:
    target = f"{path}?limit={limit}&page={page}&x={'y' * length}"
    for _ in range(3):  # cached from the second request on
        head = head_of(service, target, f"X-Api-Key: {customer.key}", "Accept: application/json")
        assert head.startswith(b"HTTP/1.1 200" if rels else b"HTTP/1.1 414")
        assert set(links(head)) == (rels or set())
        assert head.count(b"\r\nlink: ") == fields
        assert all(f"x={'y' * length}&" in url for url in links(head).values())


def test_the_longest_links_fit_beside_all_other_headers(service: Service, customer: Customer) -> None:
    unknown = ",".join(f"{number}{'u' * 46}" for number in range(12))
    ignored = "&".join(f"{number}{'i' * 45}=" for number in range(12))
    base = f"sku=PHONE,CABLE,SWITCH,{unknown}&{ignored}&limit=1&page=2"
    room = next(n for n in range(1_500, 4_000, 50) if is_414(customer, f"{base}&x={'y' * n}"))
    target = f"/product?{base}&x={'y' * (room - 50)}"
    for _ in range(3):
        head = head_of(service, target, f"X-Api-Key: {customer.key}", "Accept-Encoding: gzip", f"Origin: {ORIGIN}")
        assert set(links(head)) == FOUR
        assert all(name in head.lower() for name in (b"\r\nx-unknown-sku: ", b"\r\nx-ignored: ", b"\r\nratelimit: "))
        assert MOST_BYTES - 1_000 < len(head) <= MOST_BYTES


def is_414(customer: Customer, query: str) -> bool:
    return customer.get(f"/product?{query}", headers={"Accept": "application/json"}).status_code == 414


def test_the_error_names_the_limit_with_which_the_query_fits(customer: Customer) -> None:
    accept = {"Accept": "application/json"}
    rejected = customer.get(f"/product?limit=1&x={'y' * 9_000}", headers=accept)
    assert rejected.status_code == 414
    assert "16384 bytes of headers" in rejected.json()["message"]
    [most] = re.findall("the query may have ([0-9]+) bytes", rejected.json()["message"])
    for more, status in ((0, 200), (1, 414)):
        query = f"x={'y' * (int(most) + more - len('x=&'))}"
        assert customer.get(f"/product?limit=1&{query}", headers=accept).status_code == status


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
        assert len(head_of(service, path, key, f"Origin: {ORIGIN}")) <= 4_096
