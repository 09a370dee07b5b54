"""Compressed responses (specification, caching): which ones, with which codings, and with the same content."""

import gzip
from collections.abc import Callable
from typing import Any

import brotli
import httpx2
import pytest
import zstandard

from support.service import Customer, Service
from support.shop import price, product

UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body),
    "br": brotli.decompress,
    "gzip": gzip.decompress,
}
LARGE = [
    "/product?limit=0",
    "/product?limit=0&accept=text/csv",
    "/openapi.json",
    "/openapi.yaml",
    "/docs",
    "/guide",
    "/changelog",
    "/changelog.json",
    "/docs.md",
    "/llms.txt",
]
SMALL = ["/manufacturer", "/", "/check-health", "/customer"]
REJECTED = ["/product?sort=x", "/nowhere", "/product/nothing"]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    shop.must_load("products", [product(f"BULK-{n}", description="cable " * 200) for n in range(300)])
    shop.must_load("price-list", [price(f"BULK-{n}", n + 1) for n in range(300)])
    return shop.customer()


def fetch(customer: Customer, path: str, coding: str | None, **headers: str) -> tuple[httpx2.Response, bytes]:
    """Return a response and its raw body."""
    sent: dict[str, Any] = {"Accept": "application/json", "X-Api-Key": customer.key, **headers}
    if coding is not None:
        sent["Accept-Encoding"] = coding
    client = httpx2.Client(base_url=customer.http.base_url, headers={"Accept-Encoding": ""})
    with client, client.stream("GET", path, headers=sent) as response:
        return response, b"".join(response.iter_raw())


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("path", LARGE)
@pytest.mark.parametrize("coding", sorted(UNPACK))
def test_a_compressed_response_has_the_same_content(customer: Customer, path: str, coding: str) -> None:
    plain, body = fetch(customer, path, "identity")
    packed, raw = fetch(customer, path, coding)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == coding
    assert int(packed.headers["Content-Length"]) == len(raw) < len(body) == int(plain.headers["Content-Length"])
    assert UNPACK[coding](raw) == body
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"]
    for response in (plain, packed):
        assert "accept-encoding" in response.headers["Vary"].lower()


def test_a_large_response_is_compressed_outside_the_event_loop(customer: Customer) -> None:
    path = "/product?limit=0&extra=description"
    _, body = fetch(customer, path, "identity")
    packed, raw = fetch(customer, path, "gzip")
    assert len(body) > 256 * 1024
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(raw) == body


@pytest.mark.parametrize("path", SMALL + REJECTED)
def test_small_responses_and_errors_are_not_compressed(customer: Customer, path: str) -> None:
    found, raw = fetch(customer, path, "zstd, br, gzip")
    assert "Content-Encoding" not in found.headers
    assert int(found.headers["Content-Length"]) == len(raw)
    assert raw.startswith((b"{", b"["))
    assert "accept-encoding" in found.headers["Vary"].lower()


@pytest.mark.parametrize("coding", [None, "", "deflate", "gzip;q=0", "*;q=0", "identity;q=0, compress"])
def test_without_a_supported_coding_the_body_is_not_compressed(customer: Customer, coding: str | None) -> None:
    found, raw = fetch(customer, "/openapi.json", coding)
    assert "Content-Encoding" not in found.headers
    assert raw.startswith(b"{")


def test_a_response_without_a_body_has_no_coding_headers(shop: Service, customer: Customer) -> None:
    found = shop.client(**{"X-Api-Key": customer.key}).options("/product")
    assert (found.status_code, found.content) == (204, b"")
    assert not {"vary", "content-encoding"} & set(found.headers)


def test_errors_and_personal_data_are_not_cacheable(customer: Customer) -> None:
    for path in [*SMALL[1:], *REJECTED, "/order", "/customer/credit", "/customer/address"]:
        found, _ = fetch(customer, path, None)
        assert found.headers["Cache-Control"] == "no-store"
        assert "ETag" not in found.headers
