"""A request's credential and address are read once, and the request is admitted once, on every path."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from types import FrameType
from typing import Any

import pytest

from support.service import Customer, Service, running_service
from support.shop import stock_shop
from tradecounter.edge.server.client_address import ClientAddresses
from tradecounter.identity.credentials import read_credential
from tradecounter.identity.lockout import Lockout
from tradecounter.identity.rate_limit import RateLimit
from tradecounter.sites.http.request_context import new_context
from tradecounter.storefront.storefront import Storefront

READ: list[Callable[..., Any]] = [read_credential, ClientAddresses.of, new_context]
ADMITTED: list[Callable[..., Any]] = [Lockout.check, RateLimit.count]
VIEWED: list[Callable[..., Any]] = [Storefront.last_view]

pages = count(1)


@pytest.fixture(scope="module")
def limited(database_url: str) -> Iterator[Service]:
    with running_service(database_url, rate_limit=1000) as service:
        stock_shop(service)
        yield service


@pytest.fixture
def customer(limited: Service) -> Customer:
    made = limited.customer()
    made.get("/customer")  # its key is cached from here on
    limited.refresh()
    return made


@contextmanager
def counting(service: Service) -> Iterator[Counter[str]]:
    """Count the calls of the functions above on the server's thread."""
    names = {function.__code__: function.__name__ for function in (*READ, *ADMITTED, *VIEWED)}
    calls: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (name := names.get(frame.f_code)):
            calls[name] += 1

    async def start() -> None:
        sys.setprofile(profile)

    async def stop() -> None:
        sys.setprofile(None)

    service.call(start)
    try:
        yield calls
    finally:
        service.call(stop)


def once(*functions: Callable[..., Any]) -> dict[str, int]:
    return {function.__name__: 1 for function in functions}


def test_a_read_that_is_not_cached(limited: Service, customer: Customer) -> None:
    with counting(limited) as calls:
        response = customer.get(f"/product?page={next(pages)}")
    assert response.status_code == 200
    assert calls == once(*READ, *ADMITTED, *VIEWED)


def test_a_request_whose_head_is_cached_and_whose_response_is_not(limited: Service, customer: Customer) -> None:
    path, headers = f"/product?page={next(pages)}", {"X-Forwarded-For": "198.51.100.7"}
    for _ in range(2):
        customer.get(path, headers=headers)
    limited.must_load("stock", [{"sku": "PHONE", "available": next(pages) + 100}])
    with counting(limited) as calls:
        response = customer.get(path, headers=headers)
    assert response.status_code == 200
    assert calls == once(*READ[1:], *ADMITTED, *VIEWED), "the cached head includes the credential"


def test_a_read_from_the_cache(limited: Service, customer: Customer) -> None:
    path = f"/product?page={next(pages)}"
    customer.get(path)
    with counting(limited) as calls:
        customer.get(path)
    assert calls == once(*READ, *ADMITTED, *VIEWED)


def test_a_request_of_a_key_that_is_not_cached(limited: Service) -> None:
    made = limited.customer()
    limited.refresh()
    with counting(limited) as calls:
        response = made.get("/customer")
    assert response.status_code == 200
    assert calls == once(*READ, *ADMITTED)
