"""Caps on pending orders and unpriced quotes hold for concurrent requests on several servers."""

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
    """Return the database's maximum number of connections."""
    [(most,)] = rows(service, "select current_setting('max_connections')::int")
    return int(most)


@pytest.mark.sweep(every=6)
@pytest.mark.spec("7 409", "too many pending orders or unpriced quotes")
@pytest.mark.parametrize("path", ["/order", "/quote"])
@pytest.mark.parametrize("most", [1, 10, 30])
def test_concurrent_creations_never_exceed_the_cap(shop: Service, path: str, most: int) -> None:
    kind = path[1:]
    settings: dict[str, Any] = {"max_pending_orders": most, "max_unpriced_quotes": most}
    with running_service(shop.database_url, **settings) as one, running_service(shop.database_url, **settings) as two:
        customer = one.customer()
        clients = [service.client(**{"X-Api-Key": customer.key}) for service in (one, two)]
        two.refresh()
        responses = in_parallel([partial(clients[n % 2].post, path, json=order()) for n in range(40)])
    assert Counter(response.status_code for response in responses) == {201: most, 409: 40 - most}
    assert counts(shop, customer) == {kind: most}


@pytest.mark.sweep
def test_creations_near_the_cap_are_counted_one_by_one(shop: Service) -> None:
    """Far from the cap, creations are not serialised; those in progress still count when the cap is near."""
    most = most_connections(shop) + 30
    with running_service(shop.database_url, max_pending_orders=most) as one:
        customer = one.customer()
        for _ in range(0, most + 24, 24):
            in_parallel([partial(customer.post, "/order", order())] * 24)
    assert counts(shop, customer) == {"order": most}


@contextmanager
def creations_locked(service: Service, customer: Customer, lock: LiteralString) -> Iterator[None]:
    """Hold the lock of a customer's creations while the block runs, as a creation in progress does."""
    with psycopg.connect(service.database_url) as holder:
        holder.execute(f"select {lock}(8, hashint8(%s))", [customer.id])
        yield


def test_a_creation_waits_only_when_the_cap_could_be_exceeded(
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
