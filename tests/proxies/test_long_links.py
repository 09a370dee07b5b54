"""A proxy with the sizes of the shipped files passes on every link of a list, however long the query is."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import pytest

from support.front_proxies import FrontProxy, direct, haproxy, nginx
from support.service import Customer, Service
from support.shop import ORIGIN, shop_with_all_headers

Starting = Callable[[str], AbstractContextManager[FrontProxy]]


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with shop_with_all_headers(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    return service.customer()


def head_through(proxy: FrontProxy, customer: Customer, query: str, *headers: str) -> bytes:
    """Return the head of the response for a page in the middle of a list."""
    lines = [
        f"GET /product?limit=1&page=2&x={query} HTTP/1.1", "Host: shop", f"X-Api-Key: {customer.key}",
        "Accept: application/json", f"X-Request-Id: {'i' * 128}", "Connection: close", *headers,
    ]  # fmt: skip
    received = b""
    with proxy.connect() as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        while piece := connection.recv(65536):
            received += piece
    return received.partition(b"\r\n\r\n")[0]


@pytest.mark.spec("1 Pagination", "links lead to existing pages and keep the rest of the query")
@pytest.mark.parametrize(
    "starting",
    [direct, haproxy, nginx, partial(nginx, keep_alive=True)],
    ids=["direct", "haproxy", "nginx", "nginx, kept alive"],
)
def test_a_page_with_a_long_query_passes_a_proxy(service: Service, customer: Customer, starting: Starting) -> None:
    wanted = {0: 4, 700: 4, 1_900: 4, 2_500: 4, 3_300: 4, 4_500: 0, 6_000: 0, 12_000: 0}
    with starting(service.url) as proxy:
        for origin in ("A: b", f"Origin: {ORIGIN}"):
            for length, count in wanted.items():
                for _ in range(3):  # cached from the second request on
                    head = head_through(proxy, customer, "y" * length, origin)
                    status = b"200" if count else b"414"
                    assert (head[9:12], len(re.findall(rb"; rel=", head))) == (status, count), length
