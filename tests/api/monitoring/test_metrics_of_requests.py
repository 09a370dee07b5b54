"""The metrics of a site: its requests by what responded, its errors by their reason, its data."""

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import httpx2
import pytest

from support.metrics import scraped, value
from support.service import Customer, Service, unused_client_address
from support.shop import order
from support.waiting import wait_for
from tradecounter.monitoring.listener import metrics_served
from tradecounter.sites.http.site import site_figures

LIST = {"method": "GET", "route": "/product"}


@pytest.fixture(scope="module")
def metrics(shop: Service) -> Iterator[str]:
    """The metrics' address of a service with the small catalogue."""
    with metrics_served("127.0.0.1", 0, lambda: site_figures(shop.application)) as url:
        yield url


@pytest.fixture
def customer(shop: Service) -> Customer:
    made = shop.customer()
    shop.refresh()
    assert made.get("/customer").status_code == 200  # the key is cached from here on
    return made


def becomes(read: Callable[[], object], expected: object) -> None:
    """Wait until figures are as expected: a request is counted after its response was sent."""
    with suppress(AssertionError):
        wait_for(lambda: read() == expected, seconds=10)
    assert read() == expected


def exchanged(shop: Service, *requests: bytes) -> list[bytes]:
    """Send raw requests, one after the other on a connection, and return the responses' first lines."""
    address = urlsplit(shop.url)
    lines = []
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        for request in requests:
            connection.sendall(request)
            lines.append(connection.recv(100_000).split(b"\r\n")[0])
    return lines


def test_a_request_counts_as_what_responded_to_it(shop: Service, metrics: str, customer: Customer) -> None:
    def counts() -> dict[str, float]:
        ways = ("known_bytes", "fast_path", "response_cache", "endpoint")
        return {way: value(metrics, "tradecounter_requests_total", **LIST, status="200", way=way) for way in ways}

    before = counts()
    shop.refresh()  # for some seconds, keys are known without a query
    for address in ("198.51.100.7", "198.51.100.8", "198.51.100.8", "198.51.100.7"):
        customer.get("/product?limit=2", headers={"X-Forwarded-For": address})
    expected = {"endpoint": 1, "fast_path": 1, "known_bytes": 2, "response_cache": 0}
    becomes(lambda: {way: number - before[way] for way, number in counts().items()}, expected)


def test_a_response_that_has_not_changed_has_its_own_status(metrics: str, customer: Customer) -> None:
    tag = customer.get("/product?limit=3").headers["ETag"]
    before = value(metrics, "tradecounter_requests_total", **LIST, status="304")
    for _ in range(3):
        assert customer.get("/product?limit=3", headers={"If-None-Match": tag}).status_code == 304
    becomes(lambda: value(metrics, "tradecounter_requests_total", **LIST, status="304") - before, 3)


def test_routes_are_the_paths_of_operations_and_not_of_requests(metrics: str, customer: Customer) -> None:
    reference = customer.post("/order", order()).json()["confirmation_code"]
    customer.put(f"/order/{reference}")
    customer.get("/nowhere/secret-word")

    def seen() -> set[str | None]:
        return {s.labels.get("route") for metric in scraped(metrics) for s in metric.samples}

    wait_for(lambda: {"/order", "/order/{reference}", "unknown"} <= seen())
    routes = seen()
    assert not {route for route in routes if route and (reference in route or "secret" in route)}


@pytest.mark.sweep
def test_durations_are_counted_by_route(metrics: str, customer: Customer) -> None:
    count = "tradecounter_request_duration_seconds_count"
    before = value(metrics, count, route="/customer/address", way="endpoint")
    customer.get("/customer/address")
    becomes(lambda: value(metrics, count, route="/customer/address", way="endpoint") - before, 1)
    bucket = "tradecounter_request_duration_seconds_bucket"
    assert value(metrics, bucket, route="/customer/address", le="+Inf") == before + 1
    assert 0 < value(metrics, "tradecounter_request_duration_seconds_sum", route="/customer/address") < 60


@pytest.mark.sweep
def test_errors_are_counted_by_their_reason(shop: Service, metrics: str, customer: Customer) -> None:
    def rejections(reason: str) -> float:
        return value(metrics, "tradecounter_rejections_total", reason=reason)

    poor = shop.customer(credit="1.00")
    shop.refresh()
    expected = {"invalid": 2, "credential": 2, "credit": 1, "not_found": 1, "method": 1, "media_type": 1, "blocked": 1}
    before = {reason: rejections(reason) for reason in expected}
    customer.get("/product?limit=x")
    customer.post("/order", {})
    customer.get("/product/NOTHING")
    customer.http.request("DELETE", "/product")
    customer.http.post("/order", content=b"x", headers={"Content-Type": "text/plain"})
    shop.client().get("/customer")
    shop.client(**{"X-Api-Key": "wrong"}).get("/customer")
    assert poor.post("/order", order()).status_code == 402
    blocks = value(metrics, "tradecounter_address_blocks_total")
    address = {"X-Forwarded-For": unused_client_address()}
    wrong = [httpx2.get(f"{shop.url}/customer", headers={"X-Api-Key": "wrong", **address}) for _ in range(11)]
    assert [response.status_code for response in wrong] == [401] * 10 + [403]
    assert value(metrics, "tradecounter_address_blocks_total") == blocks + 1
    assert value(metrics, "tradecounter_blocked_addresses") >= 1
    expected["credential"] = 12
    becomes(lambda: {reason: rejections(reason) - number for reason, number in before.items()}, expected)


@pytest.mark.sweep
def test_an_exceeded_rate_limit_is_a_reason(shop: Service, metrics: str, customer: Customer) -> None:
    limit = shop.application.admission.rate_limit
    before = value(metrics, "tradecounter_rejections_total", reason="rate_limit")
    limit.limit = 1
    try:
        assert [customer.get("/customer").status_code for _ in range(2)] == [200, 429]
    finally:
        limit.limit = 0
    becomes(lambda: value(metrics, "tradecounter_rejections_total", reason="rate_limit"), before + 1)


@pytest.mark.sweep
def test_what_is_not_http_is_counted_with_a_bounded_method(shop: Service, metrics: str) -> None:
    before = value(metrics, "tradecounter_rejections_total", reason="not_http")
    assert exchanged(shop, b"MOST/SURELY NOT HTTP\r\n\r\n") == [b"HTTP/1.1 400 Bad Request"]
    exchanged(shop, b"BREW /product HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_for(lambda: value(metrics, "tradecounter_rejections_total", reason="not_http") > before)

    def seen() -> set[str]:
        return {s.labels["method"] for metric in scraped(metrics) for s in metric.samples if "method" in s.labels}

    wait_for(lambda: "other" in seen())
    methods = seen()
    assert methods <= {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"}


@pytest.mark.sweep
def test_a_site_shows_its_data_its_database_and_its_process(shop: Service, metrics: str, customer: Customer) -> None:
    customer.get("/product")
    polls = value(metrics, "tradecounter_refresh_duration_seconds_count")
    shop.refresh()
    assert value(metrics, "tradecounter_refresh_duration_seconds_count") == polls + 1
    assert value(metrics, "tradecounter_snapshot_products") == 3
    assert 0 <= value(metrics, "tradecounter_data_age_seconds") < 60
    assert value(metrics, "tradecounter_database_away_seconds") == 0
    assert value(metrics, "tradecounter_database_connections_limit") == shop.settings.database_connections
    assert value(metrics, "tradecounter_database_connections", state="in_use") == 0
    assert value(metrics, "tradecounter_database_connections", state="idle") >= 1
    assert value(metrics, "tradecounter_response_cache_responses") >= 1
    assert value(metrics, "tradecounter_response_cache_bytes") > 1000
    assert value(metrics, "tradecounter_resident_memory_bytes") > 10_000_000
    assert value(metrics, "tradecounter_processor_seconds_total") > 0
    assert value(metrics, "tradecounter_processes", site="public") == 1
    customer.get("/customer")
    wait_for(lambda: value(metrics, "tradecounter_client_connections") >= 1)
