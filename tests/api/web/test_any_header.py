"""Whatever a request's headers contain, the response is a success or a clear error, and has no header of theirs."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from support.orders import buy
from support.plain_request import ask
from support.service import Customer, Service
from support.shop import shop_with_all_headers

pytestmark = pytest.mark.sweep

NAMES = [
    "Accept", "Accept-Encoding", "Accept-Language", "Accept-Charset", "If-None-Match", "If-Match", "If-Modified-Since",
    "If-Unmodified-Since", "Range", "If-Range", "Origin", "Referer", "X-Forwarded-For", "X-Forwarded-Proto",
    "X-Forwarded-Host", "Forwarded", "X-Request-Id", "traceparent", "tracestate", "Cookie", "Authorization",
    "X-Api-Key",
    "Idempotency-Key", "Sec-Fetch-Site", "Access-Control-Request-Method", "Access-Control-Request-Headers", "Prefer",
    "Content-Type", "Content-Encoding", "X-Acting-User", "HX-Request", "X-HTTP-Method-Override", "User-Agent", "Via",
]  # fmt: skip
PARTS = [
    '"', "W/", "*", "*/*", ",", ";", "=", "q=", "q=0", "q=1e999", "q=nan", "q=-1", "0.5", "text/csv", "text/html",
    "application/json", "gzip", "zstd", "br", "identity", "x-gzip", "bytes=", "0-0", "-1", "0-", "99999999999999999999",
    "Tue, 16 Jun 2026 08:00:00 GMT", "https://shop.example", "null", "http://[", "Bearer ", "Basic ", "Og==", "::1",
    "10.0.0.1", "for=", "proto=https", "[::]:80", "00-", "f" * 32, "-", "01", " ", "\t", "é", "\xff", "\x80", "%00",
    "%0d%0aX-Injected: 1", "a" * 300, "application/x-www-form-urlencoded", "chunked", "=?utf-8?b?DQo=?=", "\\", "{",
    "__Host-",
]  # fmt: skip
TARGETS = [
    "/product?limit=2", "/product/PHONE", "/order?limit=2", "/customer", "/event?limit=1", "/", "/check-health",
    "/docs",
    "/guide", "/openapi.json", "/account", "/account/order", "/static/layout.css", "/auth/jwks.json", "/feed/none.csv",
    "/changelog.json",
    "/auth/authorize",
]  # fmt: skip

values = st.lists(st.sampled_from(PARTS) | st.text(st.characters(max_codepoint=255, exclude_characters="\0\r\n"),
                                                   max_size=6), max_size=8).map("".join)  # fmt: skip
headers = st.lists(st.tuples(st.sampled_from(NAMES), values), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with shop_with_all_headers(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    made = service.customer()
    buy(made)
    service.refresh()
    return made


@fuzzed(300)
@given(st.sampled_from(["GET", "HEAD", "OPTIONS"]), st.sampled_from(TARGETS), headers, st.booleans())
def test_no_header_of_a_read_causes_a_fault(
    service: Service, customer: Customer, method: str, target: str, given_headers: list[tuple[str, str]], named: bool
) -> None:
    key = [("X-Api-Key", customer.key)] if named else []
    response = ask(service.url, method, target, [*key, *given_headers])
    assert response.status < 500, (response.status, response.body)
    assert "x-injected" not in response.headers
    if response.status == 206 or "content-range" in response.headers:
        raise AssertionError("parts of responses are not offered")
    if response.status >= 400 and method == "GET" and response.headers.get("content-type") == "application/json":
        assert isinstance(json.loads(response.body), dict)


@fuzzed(150)
@given(headers, st.sampled_from([b"", b"{}", b"[", b'{"customer_reference": "X", "items": []}']))
def test_no_header_of_a_change_causes_a_fault(
    service: Service, customer: Customer, given_headers: list[tuple[str, str]], body: bytes
) -> None:
    response = ask(service.url, "POST", "/order", [("X-Api-Key", customer.key), *given_headers], body)
    assert 400 <= response.status < 500, (response.status, response.body)
