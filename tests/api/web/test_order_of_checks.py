"""The order of checks: path, method, credential, body (specification, HTTP in general)."""

import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest

from support.error_bodies import error_body
from support.service import Customer, Service
from support.shop import order

LIMIT = 1024 * 1024

ALLOWED = {
    "/": "GET, HEAD, OPTIONS",
    "/check-health": "GET, HEAD, OPTIONS",
    "/ready": "GET, HEAD, OPTIONS",
    "/openapi.json": "GET, HEAD, OPTIONS",
    "/openapi.yaml": "GET, HEAD, OPTIONS",
    "/docs": "GET, HEAD, OPTIONS",
    "/guide": "GET, HEAD, OPTIONS",
    "/product": "GET, HEAD, OPTIONS",
    "/product/PHONE": "GET, HEAD, OPTIONS",
    "/order": "GET, HEAD, OPTIONS, POST",
    "/order/1": "GET, HEAD, OPTIONS, PUT",
    "/quote": "GET, HEAD, OPTIONS, POST",
    "/order/1/invoice": "GET, HEAD, OPTIONS",
    "/customer": "GET, HEAD, OPTIONS",
    "/customer/credit": "GET, HEAD, OPTIONS",
    "/customer/address": "GET, HEAD, OPTIONS, POST",
    "/customer/address/1": "DELETE, OPTIONS, PUT",
    "/category": "GET, HEAD, OPTIONS",
    "/manufacturer": "GET, HEAD, OPTIONS",
    "/attribute": "GET, HEAD, OPTIONS",
    "/auth/.well-known/openid-configuration": "GET, HEAD, OPTIONS",
    "/.well-known/oauth-authorization-server/auth": "GET, HEAD, OPTIONS",
    "/auth/jwks.json": "GET, HEAD, OPTIONS",
    "/auth/token": "OPTIONS, POST",
    "/auth/revoke": "OPTIONS, POST",
    "/oauth/token": "OPTIONS, POST",
}
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(scope="module")
def bare(shop: Service) -> httpx2.Client:
    return shop.client()


@pytest.mark.sweep(every=8)
@pytest.mark.spec("7 404", "unknown address")
@pytest.mark.parametrize("method", [*METHODS, "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/Product",
        "/product%0A",
        "/order/",
        "/order/1/2",
        "/order/a%2Fb",
        "/customer/",
        "/customer/address/1/2",
        "/openapi",
        "/openapi.yml",
        "/%2e%2e/etc/passwd",
        "/.env",
        "/assets/x",
        "/docs/x",
        "/%00",
        "/%F0%9F%98%80",
    ],
)
def test_an_unknown_path_is_404_for_everyone(bare: httpx2.Client, customer: Customer, method: str, path: str) -> None:
    for client in (bare, customer.http):
        found = client.request(method, path)
        assert found.status_code == 404
        if method != "HEAD":
            assert found.json()["message"].startswith("unknown path")


@pytest.mark.parametrize(("path", "allow"), ALLOWED.items())
def test_a_wrong_method_is_405_with_the_allowed_methods_for_everyone(
    bare: httpx2.Client, customer: Customer, path: str, allow: str
) -> None:
    for method in METHODS:
        if method in allow.split(", "):
            continue
        for client in (bare, customer.http):
            found = client.request(method, path, content=b"{" if method != "HEAD" else None)
            assert (found.status_code, found.headers["Allow"]) == (405, allow)
            if method != "HEAD":
                assert method in found.json()["message"]


@pytest.mark.parametrize(("path", "allow"), ALLOWED.items())
def test_options_lists_the_methods_for_everyone(bare: httpx2.Client, path: str, allow: str) -> None:
    found = bare.options(path)
    assert (found.status_code, found.headers["Allow"], found.content) == (204, allow, b"")


@pytest.mark.parametrize(
    ("method", "path", "content", "content_type"),
    [
        ("GET", "/product?sort=nonsense", None, None),
        ("GET", "/product?page=0", None, None),
        ("GET", "/order?limit=501", None, None),
        ("GET", "/order/%00", None, None),
        ("POST", "/order", b"", "application/json"),
        ("POST", "/order", b"{", "application/json"),
        ("POST", "/quote", b"{", "application/json"),
        ("POST", "/order", b"x" * (LIMIT + 1), "application/json"),
        ("POST", "/order", b"<order/>", "application/xml"),
        ("PUT", "/order/x", b"[]", "application/json"),
        ("POST", "/customer/address", b"null", "application/json"),
        ("DELETE", "/customer/address/abc", None, None),
    ],
)
def test_the_credential_is_checked_before_the_body(
    bare: httpx2.Client, method: str, path: str, content: bytes | None, content_type: str | None
) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    for credential in ({}, {"X-Api-Key": "0" * 64}, {"Authorization": "Bearer x"}):
        found = bare.request(method, path, content=content, headers={**headers, **credential})
        assert (found.status_code, found.content) == (401, b"{}")


def padded(length: int) -> bytes:
    body = json.dumps(order()).encode()
    return body + b" " * (length - len(body))


def chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 65536):
        yield body[start : start + 65536]


def test_a_body_of_exactly_the_limit_is_accepted_and_one_byte_more_is_413(customer: Customer) -> None:
    headers = {"Content-Type": "application/json"}
    for length, status in ((LIMIT, 201), (LIMIT + 1, 413)):
        announced = customer.http.post("/order", content=padded(length), headers=headers)
        in_chunks = customer.http.post("/order", content=chunks(padded(length)), headers=headers)
        assert "content-length" not in in_chunks.request.headers
        assert (announced.status_code, in_chunks.status_code) == (status, status)
        if status == 413:
            too_large = error_body("too_large", f"the body is longer than {LIMIT} bytes")
            assert announced.json() == in_chunks.json() == too_large


def test_a_content_length_over_the_limit_is_rejected_without_reading_the_body(
    shop: Service, customer: Customer
) -> None:
    address = urlsplit(shop.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:
        connection.sendall(
            b"POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n"
            b"X-Api-Key: " + customer.key.encode() + b"\r\n\r\n"
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
     "application/jsonp", "json", "application/json2; charset=utf-8", "text/json", "*/*", ";"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/order"), ("POST", "/quote"), ("PUT", "/order/x"), ("POST", "/customer/address")]
)
def test_a_body_with_another_content_type_is_415(customer: Customer, method: str, path: str, content_type: str) -> None:
    found = customer.http.request(method, path, content=b"{}", headers=[(b"Content-Type", content_type.encode())])
    assert found.status_code == 415
    assert found.json()["message"].startswith("Content-Type: must be application/json")


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON ;x=y"]
)
def test_the_json_content_type_may_have_any_spelling_or_be_absent(customer: Customer, content_type: str) -> None:
    with_type = customer.http.post("/order", content=padded(1000), headers={"Content-Type": content_type})
    without_type = customer.http.post("/order", content=padded(1000))
    assert "content-type" not in without_type.request.headers
    assert (with_type.status_code, without_type.status_code) == (201, 201)
