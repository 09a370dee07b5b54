"""Requests of programs skip the layers of ASGI; requests with `Origin` go through them, and get the same responses."""

from typing import Any

import httpx2
import pytest

from api.web.test_http_basics import GETS, constant_headers
from support.orders import buy
from support.service import Customer, Service

ORIGIN = {"Origin": "https://shop.example"}

REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", "/order", {}),
    ("POST", "/order", {"items": [{"sku": "nothing", "quantity": 1}]}),
    ("POST", "/order", [1]),
    ("PUT", "/order/nothing/confirmation", {}),
    ("DELETE", "/customer/address/1", None),
    ("PATCH", "/order", {}),
    ("POST", "/token", {}),
    ("OPTIONS", "/order/1", None),
    ("GET", "/product?limit=2&colour=red", None),
    ("GET", "/order?limit=x", None),
    ("GET", "/order?limit=0", None),
    ("GET", "/customer/", None),
]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    customer = shop.customer()
    buy(customer)
    return customer


@pytest.mark.parametrize("coding", ["identity", "gzip"])
@pytest.mark.parametrize("path", [path for path in GETS if path != "/check-health"])  # which says how old its data are
def test_a_read_gets_the_same_response_through_the_layers(customer: Customer, path: str, coding: str) -> None:
    compare(customer, "GET", path, None, {"Accept-Encoding": coding})


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_a_request_gets_the_same_response_through_the_layers(
    customer: Customer, method: str, path: str, body: Any
) -> None:
    compare(customer, method, path, body, {})


def test_a_rejected_credential_gets_the_same_response_through_the_layers(shop: Service) -> None:
    for headers in ({}, {"X-Api-Key": "nothing"}, {"Authorization": "Bearer x"}):
        direct, layered = (shop.client().get("/customer", headers={**headers, **more}) for more in ({}, ORIGIN))
        assert shown(direct) == shown(layered)
        assert direct.status_code == 401


def compare(customer: Customer, method: str, path: str, body: Any, headers: dict[str, str]) -> None:
    direct, layered = (
        customer.http.request(method, path, json=body, headers={**headers, **more}) for more in ({}, ORIGIN)
    )
    assert shown(direct) == shown(layered)


def shown(response: httpx2.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    return response.status_code, constant_headers(response), response.content
