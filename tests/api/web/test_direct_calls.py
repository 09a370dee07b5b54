"""Requests of programs skip the layers of ASGI; requests with `Origin` go through them, and get the same responses."""

from typing import Any

import httpx2
import psycopg
import pytest
from starlette.types import Receive, Scope, Send

from api.web.test_http_basics import GETS, constant_headers
from support.orders import buy
from support.service import Customer, Service
from tradecounter.sites.http.resource import DirectCalls

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


@pytest.mark.sweep(every=7)
@pytest.mark.parametrize("coding", ["identity", "gzip"])
@pytest.mark.parametrize("path", [path for path in GETS if path != "/check-health"])  # which says how old its data are
def test_a_read_gets_the_same_response_through_the_layers(customer: Customer, path: str, coding: str) -> None:
    compare(customer, "GET", path, None, {"Accept-Encoding": coding})


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_a_request_gets_the_same_response_through_the_layers(
    customer: Customer, method: str, path: str, body: Any
) -> None:
    compare(customer, method, path, body, {})


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("path", ["/order", "/product?limit=1", "/docs", "/order/a%2Fb", "/product/a%2Fb", "/nowhere"])
def test_head_gets_the_same_response_through_the_layers(customer: Customer, path: str) -> None:
    compare(customer, "HEAD", path, None, {})


def test_a_fault_of_ours_gets_the_same_response_through_the_layers(shop: Service, customer: Customer) -> None:
    with psycopg.connect(shop.database_url, autocommit=True) as connection:
        connection.execute("alter table address rename to mislaid")
        try:
            direct, layered = (
                customer.get("/customer/address", headers={"X-Request-Id": "mine", **more}) for more in ({}, ORIGIN)
            )
        finally:
            connection.execute("alter table mislaid rename to address")
    assert shown(direct) == shown(layered)
    assert direct.status_code == 500


def test_only_what_needs_the_layers_goes_through_them(shop: Service, customer: Customer) -> None:
    direct = shop.application.fast_path._app._app  # type: ignore[attr-defined]  # noqa: SLF001
    assert isinstance(direct, DirectCalls)
    layers, passed = direct._app, []  # noqa: SLF001

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope["path"])
        await layers(scope, receive, send)

    direct._app = noted  # noqa: SLF001
    try:
        for path in ("/order", "/order/1", "/customer", "/catalogue/change", "/docs"):
            customer.get(path)
            customer.http.head(path)
        assert passed == []
        customer.get("/order/1", headers=ORIGIN)
        httpx2.get(f"{shop.url}/account/sign-in")
        customer.get("/nowhere")
        assert passed == ["/order/1", "/account/sign-in", "/nowhere"]
    finally:
        direct._app = layers  # noqa: SLF001


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
