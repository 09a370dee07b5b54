"""Caps on pending orders and unpriced quotes hold for requests at the same moment, on several servers."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, LiteralString

import psycopg
import pytest

from support.orders import in_parallel, rows
from support.service import Customer, Service, running_service
from support.shop import order
from support.waiting import waiting_for_a_lock


def counts(service: Service, customer: Customer) -> Counter[str]:
    found = rows(service, "select kind, count(*) from orders where customer_id = %s group by kind", customer.id)
    return Counter(dict(found))


def most_connections(service: Service) -> int:
    """How many connections the database allows."""
    [(most,)] = rows(service, "select current_setting('max_connections')::int")
    return int(most)


@pytest.mark.spec("7 409", "too many pending orders or unpriced quotes")
@pytest.mark.parametrize("path", ["/order", "/quote"])
@pytest.mark.parametrize("most", [1, 10, 30])
def test_of_many_at_once_as_many_are_created_as_there_is_room_for(shop: Service, path: str, most: int) -> None:
    kind = path[1:]
    settings: dict[str, Any] = {"max_pending_orders": most, "max_unpriced_quotes": most}
    with running_service(shop.database_url, **settings) as one, running_service(shop.database_url, **settings) as two:
        customer = one.customer()
        clients = [service.client(**{"X-Api-Key": customer.key}) for service in (one, two)]
        two.refresh()
        responses = in_parallel([partial(clients[n % 2].post, path, json=order()) for n in range(40)])
    assert Counter(response.status_code for response in responses) == {201: most, 409: 40 - most}
    assert counts(shop, customer) == {kind: most}


def test_the_last_places_are_counted_one_by_one_after_those_that_were_not(shop: Service) -> None:
    """Far from the cap creations are not counted one by one; those under way when it comes near still are."""
    most = most_connections(shop) + 30
    with running_service(shop.database_url, max_pending_orders=most) as one:
        customer = one.customer()
        for _ in range(0, most + 24, 24):
            in_parallel([partial(customer.post, "/order", order())] * 24)
    assert counts(shop, customer) == {"order": most}


@contextmanager
def creations_locked(service: Service, customer: Customer, lock: LiteralString) -> Iterator[None]:
    """Take the lock of a customer's creations while the block runs, as one that is under way does."""
    with psycopg.connect(service.database_url) as holder:
        holder.execute(f"select {lock}(8, hashint8(%s))", [customer.id])
        yield


def test_a_creation_waits_only_where_the_cap_could_be_exceeded(
    shop: Service,
) -> None:
    with running_service(shop.database_url, max_pending_orders=most_connections(shop) + 1) as one:
        customer = one.customer()
        one.refresh()
        with ThreadPoolExecutor(1) as threads:
            with creations_locked(one, customer, "pg_advisory_xact_lock_shared"):
                assert customer.post("/order", order()).status_code == 201
                created = threads.submit(customer.post, "/order", order())
                waiting_for_a_lock(one.database_url)
            assert created.result().status_code == 201


def test_a_creation_far_from_the_cap_waits_for_one_that_counts(shop: Service) -> None:
    with running_service(shop.database_url, max_pending_orders=most_connections(shop) + 1) as one:
        customer = one.customer()
        one.refresh()
        with ThreadPoolExecutor(1) as threads:
            with creations_locked(one, customer, "pg_advisory_xact_lock"):
                created = threads.submit(customer.post, "/order", order())
                waiting_for_a_lock(one.database_url)
            assert created.result().status_code == 201
