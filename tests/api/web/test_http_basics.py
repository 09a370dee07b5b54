"""HEAD, request ids and other common properties of responses (specification, HTTP in general)."""

import re

import httpx2
import pytest

from support.orders import buy
from support.service import Customer, Service

GETS = [
    "/changelog", "/changelog.json", "/llms.txt", "/guide.md", "/docs.md", "/.well-known/security.txt", "/quote",
    "/request",
    "/", "/check-health", "/ready", "/openapi.json", "/openapi.yaml", "/docs", "/guide", "/product",
    "/static/style.0.css", "/product?limit=1&page=2", "/product/phone", "/category", "/manufacturer",
    "/attribute", "/event", "/order", "/order?limit=1", "/customer", "/customer/credit", "/customer/address",
    "/order/nothing", "/quote/nothing", "/order/nothing/invoice", "/order/nothing/video", "/product/nothing",
    "/product?sort=x", "/nowhere", "/auth/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/auth", "/auth/jwks.json", "/invoice", "/invoice/nothing",
    "/credit-note", "/credit-note/nothing", "/statement", "/payment", "/picture/nothing", "/catalogue/change",
    "/request-log", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
]  # fmt: skip


PAGES = ("/account", "/auth/authorize")  # see tests/api/pages/ and tests/api/consent/


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    customer = shop.customer()
    buy(customer)
    return customer


def constant_headers(response: httpx2.Response) -> list[tuple[str, str]]:
    return sorted(item for item in response.headers.multi_items() if item[0] not in {"date", "x-request-id"})


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("coding", ["identity", "zstd"])
@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
@pytest.mark.parametrize("path", GETS)
def test_head_responds_as_get_does_without_the_body(customer: Customer, path: str, accept: str, coding: str) -> None:
    headers = {"Accept": accept, "Accept-Encoding": coding}
    got, head = (customer.http.request(method, path, headers=headers) for method in ("GET", "HEAD"))
    assert head.status_code == got.status_code
    assert constant_headers(head) == constant_headers(got)
    assert int(head.headers["content-length"]) == got.num_bytes_downloaded > 0
    assert head.content == b""


def test_head_is_tested_on_every_path_with_get(shop: Service) -> None:
    undocumented = (*PAGES, "/feed/")
    routes = [route for route in shop.application.routes if not route.path.startswith(undocumented)]
    readable = [route for route in routes if "GET" in options(shop, route.path)]
    tried = [httpx2.URL(path).path for path in GETS]
    assert [r.path for r in readable if not any(r.path_regex.match(path) for path in tried)] == []


def options(shop: Service, path: str) -> str:
    return shop.client().options(re.sub(r"\{.*?\}", "1", path)).headers["Allow"]


def test_head_needs_the_credential_that_get_needs(shop: Service) -> None:
    found = shop.client().head("/product")
    assert (found.status_code, found.content) == (401, b"")
    assert found.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("given", ["abc", "3f9a2c", "A.b_c:d-1", "x" * 128, "550e8400-e29b-41d4-a716-446655440000"])
def test_a_valid_request_id_is_returned(customer: Customer, given: str) -> None:
    assert customer.get("/customer", headers={"X-Request-Id": given}).headers["X-Request-Id"] == given


@pytest.mark.parametrize(
    "given",
    ["", "x" * 129, "a b", "a/b", "<script>", 'a"b', "a,b", "a;b", "a%0d%0ab", "{}", "a\tb", b"\xff", "é".encode()],
)
def test_an_invalid_request_id_is_replaced(customer: Customer, given: str | bytes) -> None:
    raw = given if isinstance(given, bytes) else given.encode()
    found = customer.get("/customer", headers=[(b"X-Request-Id", raw)])
    assert found.status_code == 200
    assert re.fullmatch(r"[0-9a-f]{16}", found.headers["X-Request-Id"])


def test_generated_request_ids_are_unique(customer: Customer) -> None:
    assert len({customer.get("/customer").headers["X-Request-Id"] for _ in range(20)}) == 20


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/customer", 200),
        ("OPTIONS", "/order", 204),
        ("DELETE", "/customer/address/1", 404),
        ("GET", "/nowhere", 404),
        ("PATCH", "/order", 405),
        ("GET", "/product?sort=x", 400),
        ("POST", "/order", 400),
        ("HEAD", "/nowhere", 404),
        ("OPTIONS", "/nowhere", 404),
    ],
)
def test_every_response_has_the_request_id_once(customer: Customer, method: str, path: str, status: int) -> None:
    found = customer.http.request(method, path, headers={"X-Request-Id": "mine"})
    assert found.status_code == status
    assert found.headers.get_list("X-Request-Id") == ["mine"]


def test_the_response_to_a_rejected_credential_has_the_request_id_too(shop: Service) -> None:
    found = shop.client().get("/customer", headers={"X-Request-Id": "mine"})
    assert (found.status_code, found.headers["X-Request-Id"]) == (401, "mine")


def test_errors_are_json_even_when_csv_is_requested(customer: Customer) -> None:
    for path in ("/product?sort=x", "/order?limit=x", "/order?accept=text/plain"):
        found = customer.get(path, headers={"Accept": "text/csv"})
        assert (found.status_code, found.headers["content-type"]) == (400, "application/json")
        assert found.json().keys() - {"errors"} == {"message", "code"}


def test_responses_do_not_reveal_the_server_software(customer: Customer) -> None:
    for path in GETS:
        names = customer.get(path).headers.keys()
        assert not {"server", "x-powered-by"} & set(names)


def test_each_request_on_a_connection_gets_its_own_response(customer: Customer) -> None:
    for path, status in (("/customer", 200), ("/nowhere", 404), ("/product?sort=x", 400), ("/customer", 200)):
        assert customer.get(path).status_code == status


@pytest.mark.parametrize("host", ["[", "a b", 'x"><script>', "[::1", "x:99999", "x:y", "a@b", "x/../y", "", b"\xff"])
def test_a_nonsense_host_is_never_reflected(shop: Service, customer: Customer, host: str | bytes) -> None:
    raw = host if isinstance(host, bytes) else host.encode()
    for path in ("/", "/docs", "/openapi.json", "/product?limit=1"):
        found = customer.get(path, headers=[(b"Host", raw)])
        assert found.status_code == 200
        assert shop.url in found.headers.get("Link", "") + found.text
        if raw:
            assert raw.decode("latin-1") + "/" not in found.headers.get("Link", "") + found.text
