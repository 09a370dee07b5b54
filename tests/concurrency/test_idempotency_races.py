"""Concurrent requests with one idempotency key on two servers create one order (specification, section 8)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import httpx2
import psycopg
import pytest

from support.orders import at, buy, faults_in_the_books, in_parallel, rows
from support.quotes import keyed, was_replayed
from support.service import MORNING, Customer, Service, running_service
from support.shop import STANDARD, order
from support.waiting import break_connection, waiting_for_a_lock
from tradecounter.db.idempotency import KeyedRequest, RecordedResponse, record, used_once
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError

AUTO_CONFIRM = order(auto_confirm=True, shipping_method={"id": STANDARD})


@pytest.fixture(scope="module")
def second(shop: Service) -> Iterator[Service]:
    with running_service(shop.database_url) as running:
        yield running


@pytest.fixture
def here(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def there(second: Service, here: Customer) -> Customer:
    """The same customer as a client of the second server."""
    return Customer(here.id, here.key, second.client(**{"X-Api-Key": here.key}))


def orders_of(shop: Service, customer: Customer) -> int:
    [(count,)] = rows(shop, "select count(*) from orders where customer_id = %s", customer.id)
    return int(count)


def assert_in_progress(response: httpx2.Response) -> None:
    assert response.status_code == 409, response.text
    assert response.headers["Retry-After"] == "1"
    assert "still being processed" in response.json()["message"]
    assert response.json()["code"] == "in_progress"
    assert "Idempotent-Replay" not in response.headers


@contextmanager
def in_progress(shop: Service, customer: Customer, body: Any) -> Iterator[list[httpx2.Response]]:
    """Delay a creation with the key `k-1` while the block runs; the list then contains its response."""
    buy(customer)
    responses: list[httpx2.Response] = []
    creating = threading.Thread(target=lambda: responses.append(keyed(customer, "k-1", body)))
    with psycopg.connect(shop.database_url) as holder:
        holder.execute("select from credit_exposure where customer_id = %s for update", [customer.id])
        creating.start()
        waiting_for_a_lock(shop.database_url)
        yield responses
    creating.join(timeout=30)


@pytest.mark.spec("8 Idempotency rules", "a replay is the first response byte for byte, marked, and creates nothing")
@pytest.mark.parametrize(("path", "body"), [("/order", AUTO_CONFIRM), ("/quote", order())])
def test_one_of_forty_identical_creations_on_two_servers_creates(
    shop: Service, here: Customer, there: Customer, path: str, body: dict[str, Any]
) -> None:
    responses = in_parallel([partial(keyed, who, "k-1", body, path) for who in (here, there)] * 20)

    [created] = [response for response in responses if response.status_code == 201 and not was_replayed(response)]
    for response in responses:
        if response.status_code == 201:
            assert response.content == created.content
        else:
            assert_in_progress(response)
    assert orders_of(shop, here) == 1
    assert keyed(there, "k-1", body, path).content == created.content
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_concurrent_replays_all_succeed(here: Customer, there: Customer) -> None:
    first = keyed(here, "k-1")
    responses = in_parallel([partial(keyed, who, "k-1") for who in (here, there)] * 20)
    assert {(response.status_code, was_replayed(response)) for response in responses} == {(201, True)}
    assert {response.content for response in responses} == {first.content}


@pytest.mark.sweep
def test_many_concurrent_keys_create_one_order_each(shop: Service, here: Customer, there: Customer) -> None:
    responses = in_parallel([partial(keyed, who, f"k-{n}", AUTO_CONFIRM) for n in range(10) for who in (here, there)])
    assert {response.status_code for response in responses} <= {201, 409}
    assert sum(response.status_code == 201 and not was_replayed(response) for response in responses) == 10
    assert orders_of(shop, here) == 10
    assert faults_in_the_books(shop) == {}


def test_one_of_different_requests_with_one_key_creates(shop: Service, here: Customer, there: Customer) -> None:
    bodies = [order([("PHONE", quantity)]) for quantity in range(1, 21)]
    responses = in_parallel([partial(keyed, who, "k-1", body) for body in bodies for who in (here, there)])
    assert {response.status_code for response in responses} <= {201, 400, 409}
    assert len({response.content for response in responses if response.status_code == 201}) == 1
    assert orders_of(shop, here) == 1


@pytest.mark.spec("7 409", "the same request is still being processed")
def test_a_request_in_progress_locks_its_key_on_every_server(shop: Service, here: Customer, there: Customer) -> None:
    with in_progress(shop, here, AUTO_CONFIRM) as responses:
        for who in (here, there):
            assert_in_progress(keyed(who, "k-1", AUTO_CONFIRM))
            assert_in_progress(keyed(who, "k-1", order([("CABLE", 1)])))
            assert_in_progress(keyed(who, "k-1", path="/quote"))
            assert keyed(who, "k-2").status_code == 201
        assert responses == []
    [created] = responses
    assert (created.status_code, was_replayed(created)) == (201, False)
    again = keyed(there, "k-1", AUTO_CONFIRM)
    assert (again.content, was_replayed(again)) == (created.content, True)
    assert keyed(there, "k-1", order([("CABLE", 1)])).status_code == 400


def test_a_key_in_use_does_not_affect_other_customers(shop: Service, here: Customer) -> None:
    other = shop.customer()
    with in_progress(shop, here, AUTO_CONFIRM) as responses:
        theirs = keyed(other, "k-1", AUTO_CONFIRM)
        assert (theirs.status_code, was_replayed(theirs)) == (201, False)
        assert responses == []
    assert responses[0].json()["order_id"] != theirs.json()["order_id"]


def test_a_failing_request_releases_its_key(shop: Service, here: Customer, there: Customer) -> None:
    with in_progress(shop, here, AUTO_CONFIRM) as responses:
        assert_in_progress(keyed(there, "k-1", AUTO_CONFIRM))
        break_connection(shop.database_url, waiting_for_a_lock(shop.database_url))
    assert responses[0].status_code == 503
    retried = keyed(there, "k-1", AUTO_CONFIRM)
    assert (retried.status_code, was_replayed(retried)) == (201, False)
    assert faults_in_the_books(shop) == {}


def test_a_key_recorded_by_a_concurrent_request_is_not_recorded_again(shop: Service, here: Customer) -> None:
    """Another request may commit between the search for a key and its lock; this one must then fail with 409."""
    request, now = KeyedRequest(here.id, "k-1", b"same"), shop.clock.now()

    async def record_body(tx: Transaction, body: bytes) -> None:
        record(tx, request, RecordedResponse(201, body), now)

    shop.in_transaction(lambda tx: record_body(tx, b"first"))
    with pytest.raises(DomainError) as rejected, used_once():
        shop.in_transaction(lambda tx: record_body(tx, b"second"))
    assert (rejected.value.retry_after, "still being processed" in rejected.value.message) == (1, True)
    assert rows(shop, "select body from idempotency_key where customer_id = %s", here.id) == [(b"first",)]


def test_a_lost_race_for_the_key_replays_the_winners_response(shop: Service) -> None:
    """As above, but the losing request is rejected before it records the key."""
    customer = shop.customer(unique_references=True)
    with at(shop, MORNING - timedelta(days=2)):
        made = keyed(customer, "k-0")
    responses: list[httpx2.Response] = []
    creating = threading.Thread(target=lambda: responses.append(keyed(customer, "k-1")))
    with psycopg.connect(shop.database_url) as holder:
        holder.execute("select from customer where id = %s for no key update", [customer.id])
        creating.start()
        waiting_for_a_lock(shop.database_url)
        holder.execute("update orders set expires_at = %s where customer_id = %s", [MORNING, customer.id])
        holder.execute("update idempotency_key set key = 'k-1' where customer_id = %s", [customer.id])
    creating.join(timeout=30)
    [response] = responses
    assert (response.status_code, was_replayed(response), response.content) == (201, True, made.content)
    assert orders_of(shop, customer) == 1
    other = keyed(customer, "k-2")
    assert (other.status_code, "is already used by" in other.json()["message"]) == (409, True)
