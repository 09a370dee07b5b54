"""Security headers are on every response, whatever creates it; the tests' clients check them too."""

import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from support.applications import running_exchange
from support.service import Customer, Service, running_service
from support.shop import stock_shop

SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "frame-ancestors 'none'",
}
HSTS = "strict-transport-security"
HOST = b"Host: api.example\r\n"


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with running_service(database_url, base_url="https://api.example", cors_origins="https://shop.example") as running:
        stock_shop(running)
        yield running


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    return service.customer()


def headers_of(service: Service, *requests: bytes) -> list[dict[str, str]]:
    """Send requests together on one connection, and return the headers of each response."""
    address, received = urlsplit(service.url), b""
    with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:
        connection.sendall(b"".join(requests))
        while piece := connection.recv(65536):
            received += piece
    heads = re.findall(rb"HTTP/1\.1 \d{3}[^\r]*\r\n(.*?)\r\n\r\n", received, re.DOTALL)
    pairs = [[line.partition(": ") for line in head.decode().split("\r\n")] for head in heads]
    for found in pairs:
        names = [name.lower() for name, _, _ in found]
        assert len(names) == len(set(names)), "each header occurs once"
    return [{name.lower(): value for name, _, value in found} for found in pairs]


def assert_security_headers(headers: dict[str, str]) -> None:
    assert {name: headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
    assert re.fullmatch(r"max-age=\d{7,}", headers.get(HSTS, ""))


REQUESTS = {
    "the index": b"GET / HTTP/1.1\r\n%s\r\n" % HOST,
    "an unknown path": b"GET /nowhere HTTP/1.1\r\n%s\r\n" % HOST,
    "a wrong method": b"PATCH /order HTTP/1.1\r\n%s\r\n" % HOST,
    "a missing credential": b"GET /order HTTP/1.1\r\n%s\r\n" % HOST,
    "OPTIONS": b"OPTIONS /order HTTP/1.1\r\n%s\r\n" % HOST,
    "a preflight request": b"OPTIONS /order HTTP/1.1\r\nOrigin: https://shop.example\r\n"
    b"Access-Control-Request-Method: POST\r\n%s\r\n" % HOST,
    "a rejected preflight request": b"OPTIONS /order HTTP/1.1\r\nOrigin: https://other.example\r\n"
    b"Access-Control-Request-Method: POST\r\n%s\r\n" % HOST,
    "the token endpoint": b"POST /oauth/token HTTP/1.1\r\nContent-Length: 0\r\n%s\r\n" % HOST,
    "what is not HTTP": b"\x00\r\n\r\n",
}
CLOSING = b"GET /check-health HTTP/1.1\r\nConnection: close\r\n%s\r\n" % HOST


@pytest.mark.parametrize("request_text", REQUESTS.values(), ids=REQUESTS.keys())
def test_every_response_has_the_security_headers(service: Service, request_text: bytes) -> None:
    found = headers_of(service, request_text, CLOSING)
    assert found
    for headers in found:
        assert_security_headers(headers)


@pytest.mark.parametrize("path", ["/product?limit=2", "/product", "/product/PHONE", "/product?limit=0"])
def test_cached_and_304_responses_have_the_security_headers(service: Service, customer: Customer, path: str) -> None:
    service.refresh()
    tag = customer.get(path, headers={"Accept": "text/csv"}).headers["ETag"]
    head = (
        f"GET {path} HTTP/1.1\r\nHost: api.example\r\nX-Api-Key: {customer.key}\r\nAccept-Encoding: gzip\r\n".encode()
    )
    condition = b"If-None-Match: %s\r\n\r\n" % tag.encode()
    found = headers_of(service, *[head + b"\r\n"] * 3, *[head + condition] * 3, CLOSING)
    assert len(found) == 7
    for headers in found:
        assert_security_headers(headers)


def test_the_reference_page_has_its_own_policy_and_cannot_be_framed(service: Service) -> None:
    policy = service.client().get("/docs").headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; frame-ancestors 'none'")


def test_a_token_response_has_the_security_headers(database_url: str) -> None:
    with running_exchange(database_url) as exchange:
        response = exchange.request_token()
        assert response.status_code == 200
        assert {name: response.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS


@pytest.mark.parametrize("base_url", [None, "http://api.example"])
def test_without_an_https_base_address_hsts_is_absent(database_url: str, base_url: str | None) -> None:
    with running_service(database_url, base_url=base_url) as plain:
        for headers in headers_of(plain, REQUESTS["the index"], CLOSING) + headers_of(plain, b"\x00\r\n\r\n"):
            assert HSTS not in headers
            assert {name: headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
