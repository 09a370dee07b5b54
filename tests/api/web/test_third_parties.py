"""No request waits for a third party but the token endpoint for the issuer, which is 503 (specification, section 7).

So nothing has a reason for a 504: e-mails, webhooks and videos are the worker's or the client's business.
"""

import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from support.applications import Exchange, running_exchange
from support.orders import buy, confirm, create
from support.shop import ADDRESS, order, stock_shop

DEAD = "127.0.0.1:9"  # nothing listens there


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    """A service whose mail server is away."""
    with running_exchange(database_url, smtp_url=f"smtp+plain://{DEAD}") as running:
        stock_shop(running.service)
        yield running


@pytest.fixture
def connected_to(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ports to which this process, and so the server in it, connects from here on."""
    ports: list[int] = []
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        if self.family == socket.AF_INET:
            ports.append(address[1])
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", noted)
    return ports


@pytest.mark.spec("7 504", "no request waits for a third party, except the issuer, which is 503 when down")
def test_all_operations_work_while_every_third_party_is_away(exchange: Exchange, connected_to: list[int]) -> None:
    customer, told = exchange.customer, {"email_address": "a@b.example"}
    placed = buy(customer, order_notifications=told)
    reference = placed["order_reference"]
    item = customer.get(f"/order/{reference}").json()["items"][0]["id"]
    configuration = {"configurations": [{"adsl_username": "a", "adsl_password": "b"}]}
    calls: dict[str, tuple[Callable[[], httpx2.Response], int]] = {
        "an order": (lambda: customer.post("/order", order(order_notifications=told)), 201),
        "a confirmation": (lambda: confirm(customer, create(customer, order_notifications=told)), 200),
        "a quote": (lambda: customer.post("/quote", order(order_notifications=told)), 201),
        "an invoice": (lambda: customer.get(f"/order/{reference}/invoice"), 412),
        "a video": (lambda: customer.get(f"/order/{reference}/video"), 404),
        "a configuration": (lambda: customer.post(f"/order/{reference}/item/{item}/configuration", configuration), 400),
        "an address": (lambda: customer.post("/customer/address", ADDRESS), 201),
        **{
            path: (partial(customer.get, path), 200)
            for path in ("/product", "/product/PHONE", "/order", f"/order/{reference}", "/customer", "/customer/credit",
                         "/customer/address", "/category", "/manufacturer", "/attribute", "/event", "/check-health")
        },
    }  # fmt: skip
    assert {name: call().status_code for name, (call, _) in calls.items()} == {
        name: status for name, (_, status) in calls.items()
    }
    assert set(connected_to) <= {urlsplit(exchange.service.url).port}


@pytest.mark.spec("7 504", "no request waits for a third party, except the issuer, which is 503 when down")
@pytest.mark.parametrize("status", [500, 502, 504])
def test_an_issuer_that_fails_is_a_503_with_a_time_to_retry(exchange: Exchange, status: int) -> None:
    subject_token = exchange.subject_token()
    for path in (exchange.issuer.metadata_at, "/keys"):
        exchange.issuer.publish(path, {}, status)
    response = exchange.exchange(subject_token)
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) >= 1
    assert exchange.customer.get("/customer").status_code == 200
