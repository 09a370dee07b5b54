"""A failed request leaves its idempotency key unused for a retry (specification, section 8)."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from support.cluster import Cluster
from support.orders import at, create, rows
from support.outage import database_away
from support.quotes import keyed, was_replayed
from support.service import MORNING, Customer, Service
from support.shop import STANDARD, order
from support.waiting import break_connection, waiting_for_a_lock
from support.written import written
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange


def keys_of(shop: Service, customer: Customer) -> list[str]:
    return [key for (key,) in rows(shop, "select key from idempotency_key where customer_id = %s", customer.id)]


def assert_unused_for(customer: Customer, body: dict[str, Any], path: str = "/order") -> None:
    """Check that the key is unused: it creates an order, and then replays."""
    created = keyed(customer, "k-1", body, path)
    assert (created.status_code, was_replayed(created)) == (201, False), created.text
    assert was_replayed(keyed(customer, "k-1", body, path))


@pytest.mark.sweep(every=3)
@pytest.mark.spec("8 Idempotency rules", "a failed request leaves the key unused")
@pytest.mark.parametrize("path", ["/order", "/quote"])
@pytest.mark.parametrize(
    "bad",
    [{}, order([]), order([("NOTHING", 1)]), order(shipping_method={"id": 99}), order(shipping_region=99)],
    ids=["nothing", "no items", "unknown product", "unknown method", "unknown region"],
)
def test_an_invalid_request_leaves_the_key_unused(shop: Service, path: str, bad: dict[str, Any]) -> None:
    customer = shop.customer()
    before = written(shop)
    assert keyed(customer, "k-1", bad, path).status_code == 400
    assert keys_of(shop, customer) == []
    assert written(shop) == before
    assert_unused_for(customer, order(), path)


@pytest.mark.parametrize("path", ["/order", "/quote"])
def test_an_order_beyond_the_credit_leaves_the_key_unused(shop: Service, path: str) -> None:
    customer = shop.customer(credit="1.00")
    assert keyed(customer, "k-1", path=path).status_code == 402
    assert keys_of(shop, customer) == []
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, CustomerChange(credit_limit=Decimal(500))))
    assert_unused_for(customer, order(), path)


@pytest.mark.parametrize("path", ["/order", "/quote"])
def test_a_used_reference_leaves_the_key_unused(shop: Service, path: str) -> None:
    customer = shop.customer(unique_references=True)
    create(customer)
    assert keyed(customer, "k-1", path=path).status_code == 409
    assert keys_of(shop, customer) == []
    with at(shop, MORNING + timedelta(hours=24, seconds=1)):
        assert_unused_for(customer, order(), path)


def test_a_missing_shipping_method_leaves_the_key_unused(shop: Service) -> None:
    customer, body = shop.customer(), order(auto_confirm=True)
    assert keyed(customer, "k-1", body).status_code == 412
    assert keys_of(shop, customer) == []
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, CustomerChange(shipping_method=STANDARD)))
    assert_unused_for(customer, body)


def test_an_absent_database_leaves_the_key_unused(shop: Service, postgres: Cluster) -> None:
    customer = shop.customer()
    customer.get("/customer")
    with database_away(postgres, shop.database_url):
        assert keyed(customer, "k-1").status_code == 503
    with suppress(httpx2.HTTPError):
        while customer.get("/customer").status_code != 200:
            pass
    shop.reconnect()
    assert keys_of(shop, customer) == []
    assert_unused_for(customer, order())


@pytest.mark.parametrize("table", ["idempotency_key", "order_line"])
def test_a_broken_transaction_leaves_the_key_unused(shop: Service, table: str) -> None:
    customer = shop.customer()
    before = written(shop)
    response = killed_while_writing(shop, table, lambda: keyed(customer, "k-1"))
    assert response.status_code == 503
    assert written(shop) == before
    assert keys_of(shop, customer) == []
    assert_unused_for(customer, order())


def killed_while_writing(shop: Service, table: str, send: Callable[[], httpx2.Response]) -> httpx2.Response:
    """Return the response to a request whose database connection breaks while it waits to write to a table."""
    responses: list[httpx2.Response] = []
    request = threading.Thread(target=lambda: responses.append(send()))
    with psycopg.connect(shop.database_url) as holder:
        holder.execute(SQL("lock table {} in share mode").format(Identifier(table)))
        request.start()
        break_connection(shop.database_url, waiting_for_a_lock(shop.database_url))
        request.join(timeout=30)
    return responses[0]
