"""The access log: every request with its customer and address, also when the response is cached."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import structlog
from structlog.testing import capture_logs

from support.service import Customer, Service, running_service
from support.shop import stock_shop

ADDRESS = {"X-Forwarded-For": "198.51.100.7"}


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with running_service(database_url, log_requests=True) as running:
        stock_shop(running)
        yield running


@pytest.fixture
def customer(service: Service) -> Customer:
    made = service.customer()
    service.refresh()
    logged(service, made, ("/customer", {}))  # the key is cached from here on
    return made


def logged(service: Service, customer: Customer, *requests: tuple[str, dict[str, str]]) -> list[dict[str, Any]]:
    """Return the access log's lines for requests; the server writes them after sending the response."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        for path, headers in requests:
            customer.get(path, headers={**ADDRESS, **headers})
        service.call(lambda: asyncio.sleep(0))  # lets the server finish its current work
    return [dict(line) for line in logs if line["event"] == "request"]


def test_a_request_is_logged_with_its_customer_address_and_id(service: Service, customer: Customer) -> None:
    [line] = logged(service, customer, ("/customer/address?x=secret", {"X-Request-Id": "mine"}))
    assert line.pop("seconds") >= 0
    assert line == {
        "event": "request",
        "log_level": "info",
        "request_id": "mine",
        "method": "GET",
        "path": "/customer/address",
        "route": "/customer/address",
        "status": 200,
        "customer": customer.id,
        "address": "198.51.100.7",
    }


def test_the_secret_of_a_quotes_link_is_not_logged(service: Service) -> None:
    anybody = httpx2.Client(base_url=service.url)
    with anybody, capture_logs() as logs:
        anybody.get(f"/account/quote-link/{'5ec7e7' * 10}")
        service.call(lambda: asyncio.sleep(0))
    assert [line["path"] for line in logs if line["event"] == "request"] == ["/account/quote-link/(hidden)"]
    assert "5ec7e7" not in str(logs)


@pytest.mark.parametrize("path", ["/product?limit=2", "/product", "/product/PHONE"])
def test_a_cached_response_is_logged_too(service: Service, customer: Customer, path: str) -> None:
    logged(service, customer, (path, {}))
    ids = [f"nr-{number}" for number in range(3)]
    lines = logged(service, customer, *[(path, {"X-Request-Id": each}) for each in ids])
    assert lines == [
        {
            "event": "request",
            "log_level": "info",
            "request_id": each,
            "method": "GET",
            "path": path.partition("?")[0],
            "route": "/product/{sku}" if "PHONE" in path else "/product",
            "status": 200,
            "customer": customer.id,
            "address": "198.51.100.7",
            "from_memory": True,
        }
        for each in ids
    ]


def test_a_request_matched_by_its_bytes_is_logged_each_time(service: Service, customer: Customer) -> None:
    lines = logged(service, customer, *[("/product?limit=3", {})] * 5)
    assert [line.get("from_memory", False) for line in lines] == [False, True, True, True, True]
    assert len({line["request_id"] for line in lines}) == 5


def test_an_unchanged_poll_is_logged_with_its_status(service: Service, customer: Customer) -> None:
    tag = customer.get("/product?limit=4").headers["ETag"]
    logged(service, customer)
    lines = logged(service, customer, *[("/product?limit=4", {"If-None-Match": tag})] * 3)
    assert [line["status"] for line in lines] == [304] * 3
    assert lines[-1]["from_memory"]


def test_a_request_without_a_customer_is_logged_with_its_address(service: Service) -> None:
    stranger = Customer(0, "", service.client())
    lines = logged(service, stranger, ("/", {}), ("/customer", {}), ("/nowhere", {}))
    assert [(line["status"], line["address"]) for line in lines] == [
        (200, "198.51.100.7"), (401, "198.51.100.7"), (404, "198.51.100.7")
    ]  # fmt: skip
    assert not any("customer" in line for line in lines)


def test_a_second_request_on_a_connection_is_logged_with_its_own_customer(service: Service, customer: Customer) -> None:
    place = urlsplit(service.url)
    head = "GET /customer HTTP/1.1\r\nHost: shop\r\nX-Forwarded-For: 198.51.100.8\r\n"
    both = f"{head}X-Api-Key: {customer.key}\r\n\r\n{head}Connection: close\r\n\r\n"
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        with socket.create_connection((place.hostname, place.port or 0), timeout=10) as connection:
            connection.sendall(both.encode())
            while connection.recv(65536):
                pass
        service.call(lambda: asyncio.sleep(0))
    lines = [line for line in logs if line["event"] == "request"]
    assert [(line["status"], line.get("customer")) for line in lines] == [(200, customer.id), (401, None)]


def test_without_the_setting_requests_are_not_logged(database_url: str) -> None:
    with running_service(database_url) as quiet:
        silent = quiet.customer()
        assert logged(quiet, silent, *[("/product?limit=2", {})] * 3, ("/nowhere", {}), ("/product?limit=x", {})) == []
