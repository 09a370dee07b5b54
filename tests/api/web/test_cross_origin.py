"""Requests from pages of other origins (CORS): off unless configured."""

from collections.abc import Iterator

import httpx2
import pytest

from support.service import Service, running_service

SHOP = "https://shop.example"
PREFLIGHT = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-api-key, content-type"}


@pytest.fixture(scope="module")
def named(service: Service) -> Iterator[Service]:
    with running_service(service.database_url, cors_origins=f"{SHOP}, http://localhost:5173") as running:
        yield running


def send(service: Service, origin: str, method: str = "OPTIONS", path: str = "/order/1") -> httpx2.Response:
    return service.client().request(method, path, headers={"Origin": origin, "X-Request-Id": "mine", **PREFLIGHT})


def granted(response: httpx2.Response) -> list[str]:
    return [name for name in response.headers if name.startswith("access-control-")]


def test_without_the_setting_no_origin_is_allowed(service: Service) -> None:
    for method, status in (("OPTIONS", 204), ("GET", 401)):
        found = send(service, SHOP, method)
        assert found.status_code == status
        assert granted(found) == []


def test_a_preflight_lists_the_apis_methods_and_headers(named: Service) -> None:
    for origin in (SHOP, "http://localhost:5173"):
        found = send(named, origin)
        assert (found.status_code, found.content) == (204, b"")
        assert found.headers["Access-Control-Allow-Origin"] == origin
        assert found.headers["Access-Control-Allow-Methods"] == "DELETE, GET, HEAD, POST, PUT"
        allowed = found.headers["Access-Control-Allow-Headers"].lower().split(", ")
        assert {"x-api-key", "authorization", "idempotency-key", "if-none-match", "content-type"} <= set(allowed)
        assert "Access-Control-Allow-Credentials" not in found.headers
        assert found.headers["X-Request-Id"] == "mine"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://shop.example.evil.example", "null", "http://shop.example"]
)
def test_an_unlisted_origin_gets_no_permission(named: Service, origin: str) -> None:
    found = send(named, origin)
    assert found.status_code == 400
    assert (list(found.json()), found.json()["code"]) == (["message", "code"], "invalid")
    assert found.headers["X-Request-Id"] == "mine"
    assert "Access-Control-Allow-Origin" not in found.headers
    assert "Access-Control-Allow-Origin" not in send(named, origin, "GET", "/").headers


def test_pages_can_read_responses_and_errors_with_their_headers(named: Service) -> None:
    for path, status in (("/", 200), ("/order/1", 401), ("/nowhere", 404)):
        found = send(named, SHOP, "GET", path)
        assert (found.status_code, found.headers["Access-Control-Allow-Origin"]) == (status, SHOP)
        shown = found.headers["Access-Control-Expose-Headers"].split(", ")
        assert {"X-Total-Count", "X-Corrected", "Link", "ETag", "RateLimit", "Retry-After", "X-Request-Id"} <= set(
            shown
        )
        assert "origin" in found.headers["Vary"].lower()


def test_any_origin_can_be_allowed(service: Service) -> None:
    with running_service(service.database_url, cors_origins="*") as anybody:
        assert send(anybody, "https://anybody.example").headers["Access-Control-Allow-Origin"] == "*"
        assert send(anybody, "https://anybody.example", "GET", "/").headers["Access-Control-Allow-Origin"] == "*"


def test_options_without_a_preflight_request_respond_as_usual(named: Service) -> None:
    found = named.client().options("/order/1", headers={"Origin": SHOP})
    assert (found.status_code, found.headers["Allow"]) == (204, "GET, HEAD, OPTIONS, PUT")


def test_agents_in_pages_of_a_listed_origin_reach_their_server(named: Service) -> None:
    asked = "mcp-protocol-version, mcp-method, mcp-name, authorization, content-type"
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": asked}
    assert httpx2.options(f"{named.url}/mcp", headers={"Origin": SHOP, **preflight}).status_code == 204
    called = httpx2.post(f"{named.url}/mcp", headers={"Origin": SHOP}, json={})
    assert called.status_code == 401
    assert "WWW-Authenticate" in called.headers["Access-Control-Expose-Headers"].split(", ")
