"""Caps on a customer's pending orders and unpriced quotes (settings)."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.error_bodies import error_body
from support.orders import at, cancel, confirm, create, rows
from support.quotes import keyed, price_as_support, request_quote, was_replayed
from support.service import MORNING, Customer, Service, running_service
from support.shop import STANDARD, order
from support.written import written
from tradecounter.orders.cancel_order import expire_orders

ORDERS, QUOTES = 3, 2
FULL = f"an account may have at most {ORDERS} pending orders: confirm an order, or wait until one expires"
FULL_OF_QUOTES = f"an account may have at most {QUOTES} unpriced quotes: wait until support has priced one"


@pytest.fixture(scope="module")
def capped(shop: Service) -> Iterator[Service]:
    """The API with small caps."""
    with running_service(shop.database_url, max_pending_orders=ORDERS, max_unpriced_quotes=QUOTES) as running:
        yield running


@pytest.fixture
def customer(capped: Service) -> Customer:
    return capped.customer()


def is_409(response: httpx2.Response, message: str) -> bool:
    assert "Retry-After" not in response.headers
    return (response.status_code, response.json()) == (409, error_body("too_many_pending", message))


def fill(customer: Customer) -> list[dict[str, Any]]:
    return [create(customer) for _ in range(ORDERS)]


@pytest.mark.spec("7 409", "too many pending orders or unpriced quotes")
def test_a_pending_order_over_the_limit_is_rejected_and_writes_nothing(capped: Service, customer: Customer) -> None:
    fill(customer)
    before = written(capped)
    for headers in ({}, {"Idempotency-Key": "over the limit"}):
        assert is_409(customer.post("/order", order(), headers=headers), FULL)
    assert written(capped) == before
    assert create(capped.customer())  # each customer has its own limit


@pytest.mark.parametrize(
    "end",
    [
        lambda _capped, customer, pending: confirm(customer, pending),
        lambda capped, _customer, pending: cancel(capped, pending),
    ],
    ids=["confirmed", "cancelled"],
)
def test_a_confirmed_or_cancelled_order_does_not_count_against_the_cap(
    capped: Service, customer: Customer, end: Callable[[Service, Customer, dict[str, Any]], object]
) -> None:
    pending, *_ = fill(customer)
    end(capped, customer, pending)
    create(customer)
    assert is_409(customer.post("/order", order()), FULL)


def test_an_expired_order_does_not_count_against_the_cap(capped: Service, customer: Customer) -> None:
    fill(customer)
    lifetime = capped.settings.pending_order_lifetime
    with at(capped, MORNING + lifetime):
        assert is_409(customer.post("/order", order()), FULL)
    with at(capped, MORNING + lifetime + timedelta(seconds=1)):
        fill(customer)
        assert is_409(customer.post("/order", order()), FULL)
        capped.in_transaction(lambda tx: expire_orders(tx, capped.clock.now()))
        assert is_409(customer.post("/order", order()), FULL)
    assert rows(capped, "select count(*) from orders where customer_id = %s", customer.id) == [(2 * ORDERS,)]


def test_auto_confirmed_orders_do_not_count_as_pending(customer: Customer) -> None:
    fill(customer)
    body = order(auto_confirm=True, shipping_method={"id": STANDARD})
    for _ in range(ORDERS + 1):
        assert customer.post("/order", body).status_code == 201
    assert is_409(customer.post("/order", order()), FULL)


def test_the_body_is_validated_before_the_limit(customer: Customer) -> None:
    fill(customer)
    assert customer.post("/order", order([("NOTHING", 1)])).status_code == 400
    assert customer.post("/order", order([("PHONE", 100_000)])).status_code in {400, 402}


def test_a_repeated_request_is_replayed_at_the_limit(customer: Customer) -> None:
    first = keyed(customer, "the last")
    for _ in range(ORDERS - 1):
        create(customer)
    again = keyed(customer, "the last")
    assert was_replayed(again)
    assert again.content == first.content
    assert is_409(keyed(customer, "another"), FULL)


def test_a_rejected_request_leaves_its_key_unused(customer: Customer) -> None:
    pending, *_ = fill(customer)
    assert is_409(keyed(customer, "again"), FULL)
    confirm(customer, pending)
    response = keyed(customer, "again")
    assert response.status_code == 201
    assert not was_replayed(response)


@pytest.mark.spec("7 409", "too many pending orders or unpriced quotes")
def test_an_unpriced_quote_over_the_limit_is_rejected_until_one_is_priced(capped: Service, customer: Customer) -> None:
    quote, _ = (request_quote(customer) for _ in range(QUOTES))
    before = written(capped)
    assert is_409(customer.post("/quote", order()), FULL_OF_QUOTES)
    assert written(capped) == before
    price_as_support(capped, quote, ("PHONE", "1"))
    request_quote(customer)
    assert is_409(customer.post("/quote", order()), FULL_OF_QUOTES)


def test_orders_and_quotes_are_counted_separately(customer: Customer) -> None:
    fill(customer)
    for _ in range(QUOTES):
        request_quote(customer)
    assert is_409(customer.post("/order", order()), FULL)
    assert is_409(customer.post("/quote", order()), FULL_OF_QUOTES)
