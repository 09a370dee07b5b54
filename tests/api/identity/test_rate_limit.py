"""A customer's request limit in five minutes, over all processes (specification, section 8)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from support.applications import Exchange, running_exchange
from support.cluster import Cluster
from support.error_bodies import error_body
from support.orders import rows
from support.service import Customer, Service, running_service
from support.shop import order, stock_shop
from tradecounter.db.pool import Database
from tradecounter.identity.rate_limit import RateLimit
from tradecounter.kit.clock import FrozenClock

SECOND = timedelta(seconds=1)
LIMIT = 5
START = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)  # where a window begins


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url, rate_limit=LIMIT) as running:
        stock_shop(running.service)
        yield running


@pytest.fixture(scope="module")
def second(exchange: Exchange) -> Iterator[Service]:
    with running_service(exchange.service.database_url, rate_limit=LIMIT) as running:
        yield running


@pytest.fixture
def customer(exchange: Exchange) -> Customer:
    return exchange.service.customer()


def statuses(customer: Customer, times: int, path: str = "/category") -> list[int]:
    return [customer.get(path).status_code for _ in range(times)]


def at(service: Service, customer: Customer) -> Customer:
    """Return the customer as a client of another server."""
    return Customer(customer.id, customer.key, service.client(**{"X-Api-Key": customer.key}))


@pytest.mark.spec("7 429", "the rate limit is exceeded")
@pytest.mark.spec("8 Rate limit", "429 until the window of five minutes ends; new orders and quotes are exempt")
@pytest.mark.parametrize(
    ("since_start", "seconds_left"),
    [(timedelta(0), 300), (timedelta(seconds=77), 223), (timedelta(minutes=4, seconds=59, milliseconds=1), 1)],
)
def test_a_request_over_the_limit_is_429_and_says_when_the_window_ends(
    exchange: Exchange, customer: Customer, since_start: timedelta, seconds_left: int
) -> None:
    exchange.service.clock.set(START + timedelta(hours=3) + since_start)
    assert statuses(customer, LIMIT) == [200] * LIMIT
    rejected = customer.get("/category")
    assert rejected.status_code == 429
    assert rejected.headers["retry-after"] == str(seconds_left)
    assert rejected.headers["ratelimit-policy"] == '"customer";q=5;w=300'
    assert rejected.headers["ratelimit"] == f'"customer";r=0;t={seconds_left}'
    unit = "second" if seconds_left == 1 else "seconds"
    assert rejected.json() == error_body(
        "rate_limited", f"more than 5 requests in 5 minutes: try again in {seconds_left} {unit}"
    )


@pytest.mark.spec("7 429", "the rate limit is exceeded")
def test_a_client_that_waits_as_retry_after_says_is_served_again(exchange: Exchange, customer: Customer) -> None:
    exchange.service.clock.set(START + timedelta(hours=4, seconds=12, milliseconds=600))
    assert statuses(customer, LIMIT + 1) == [200] * LIMIT + [429]
    wait = int(customer.get("/category").headers["retry-after"])
    exchange.service.clock.advance(timedelta(seconds=wait - 1))
    assert statuses(customer, 1) == [429]
    exchange.service.clock.advance(SECOND)
    assert statuses(customer, 1) == [200]


def test_every_response_states_the_remaining_quota(exchange: Exchange, customer: Customer) -> None:
    exchange.service.clock.set(START + timedelta(hours=1, seconds=77))
    responses = [customer.get("/category"), customer.get("/order/nothing"), customer.get("/product?page=0")]
    assert [response.status_code for response in responses] == [200, 404, 400]
    assert [response.headers["ratelimit"] for response in responses] == [
        f'"customer";r={left};t=223' for left in (4, 3, 2)
    ]
    assert {response.headers["ratelimit-policy"] for response in responses} == {'"customer";q=5;w=300'}
    exchange.service.clock.advance(timedelta(milliseconds=222_500))
    assert customer.get("/category").headers["ratelimit"] == '"customer";r=1;t=1'


@pytest.mark.spec("8 Rate limit", "429 until the window of five minutes ends; new orders and quotes are exempt")
def test_a_window_is_five_minutes_by_the_clock(exchange: Exchange, customer: Customer) -> None:
    exchange.service.clock.set(START + timedelta(hours=2, minutes=4, seconds=58))
    assert statuses(customer, LIMIT + 1) == [200] * LIMIT + [429]
    exchange.service.clock.advance(SECOND)
    assert statuses(customer, 1) == [429]
    exchange.service.clock.advance(SECOND)
    assert statuses(customer, LIMIT + 1) == [200] * LIMIT + [429]
    exchange.service.refresh()
    assert statuses(customer, 1) == [429]


@pytest.mark.spec("8 Rate limit", "429 until the window of five minutes ends; new orders and quotes are exempt")
def test_creating_orders_is_not_rate_limited(customer: Customer) -> None:
    for _ in range(LIMIT + 2):
        created = customer.post("/order", order())
        assert created.status_code == 201
        quoted = customer.post("/quote", order())
        assert quoted.status_code == 201
        for response in (created, quoted):
            assert response.headers["ratelimit"].startswith(f'"customer";r={LIMIT};')
    assert statuses(customer, LIMIT + 1) == [200] * LIMIT + [429]
    for path in ("/order", "/quote"):
        assert customer.post(path, order()).status_code == 201
    confirmation = customer.put(f"/order/{created.json()['confirmation_code']}", {"shipping_method": {"id": 11}})
    assert confirmation.status_code == 429


def test_a_customers_token_and_key_share_one_count(exchange: Exchange) -> None:
    exchange.service.clock.advance(timedelta(minutes=5))
    token = exchange.access_token()
    assert [exchange.use(token, "/category").status_code for _ in range(3)] == [200] * 3
    assert statuses(exchange.customer, 3) == [200, 200, 429]
    assert exchange.use(token, "/category").status_code == 429
    assert exchange.service.customer().get("/category").status_code == 200


def test_errors_before_the_rate_limit_do_not_count_and_later_errors_do(exchange: Exchange, customer: Customer) -> None:
    bare = exchange.service.client()
    for headers in ({}, {"X-Api-Key": "x"}, {"Authorization": "Bearer x", "X-Api-Key": customer.key}):
        response = bare.get("/category", headers=headers)
        assert response.status_code == 401
        assert "ratelimit" not in response.headers
    assert customer.get("/nowhere").status_code == 404
    assert customer.http.patch("/order").status_code == 405
    assert customer.get("/").status_code == 200
    assert "ratelimit" not in customer.get("/").headers
    assert [customer.get("/product?page=0").status_code for _ in range(LIMIT + 1)] == [400] * LIMIT + [429]
    assert customer.get("/nowhere").status_code == 404
    assert customer.http.patch("/order").status_code == 405
    assert customer.get("/check-health").status_code == 200


def test_processes_share_the_limit_once_they_have_polled(
    exchange: Exchange, second: Service, customer: Customer
) -> None:
    first = exchange.service
    second.clock.set(first.clock.now())
    there = at(second, customer)
    assert statuses(customer, 2) + statuses(there, 2) == [200] * 4
    for service in (first, second, first):
        service.refresh()
    assert customer.get("/category").headers["ratelimit"].startswith('"customer";r=0;')
    assert statuses(customer, 1) == [429]
    first.refresh()
    second.refresh()
    assert statuses(there, 1) == [429]
    for service in (first, second):
        service.clock.advance(timedelta(minutes=5))
    assert statuses(there, 1) == [200]


def test_a_restarted_process_loads_the_counts(exchange: Exchange, customer: Customer) -> None:
    statuses(customer, LIMIT)
    exchange.service.refresh()
    with running_service(
        exchange.service.database_url, now=exchange.service.clock.now(), rate_limit=LIMIT
    ) as restarted:
        here = at(restarted, customer)
        assert statuses(here, 1) == [200], "until it polls"
        restarted.refresh()
        assert statuses(here, 1) == [429]


def test_repeated_polls_do_not_count_requests_twice(exchange: Exchange, customer: Customer) -> None:
    statuses(customer, 3)
    exchange.service.refresh()
    exchange.service.refresh()
    assert statuses(customer, 3) == [200, 200, 429]


def test_a_window_that_has_ended_is_shared_once_more_and_then_left_alone(exchange: Exchange) -> None:
    service, customer_id = exchange.service, exchange.service.customer().id
    clock = FrozenClock(START + timedelta(days=1))
    limit = RateLimit(clock, LIMIT)
    away = Database("host=127.0.0.1 port=1")
    limit.count(customer_id, 2)
    clock.advance(timedelta(minutes=5))
    service.call(lambda: limit.share(service.commands))
    counted = rows(service, "select requests from request_count where customer_id = %s", customer_id)
    assert counted == [(2,)]
    service.call(lambda: limit.share(away))  # needs no connection


def test_a_limit_of_0_means_no_limit(postgres: Cluster) -> None:
    with postgres.database() as url, running_service(url, rate_limit=0) as service:
        customer = service.customer()
        assert statuses(customer, 30) == [200] * 30
        service.refresh()
        assert "ratelimit" not in customer.get("/category").headers
