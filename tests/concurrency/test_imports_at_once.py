"""Imports beside changes of the same records: none ends in a deadlock, and each knows what the other has left."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString

import httpx2
import psycopg
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy, cancel, rows, sell
from support.reseller_steps import ResellerSteps
from support.service import Service
from support.waiting import waiting_for_a_lock

Call = Callable[[], httpx2.Response]


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as site:
        yield site


@pytest.fixture(scope="module")
def steps(office: BackOfficeSite) -> ResellerSteps:
    return ResellerSteps(office.caller())


def both(shop: Service, held: LiteralString, values: list[Any], first: Call, second: Call) -> list[int]:
    """The statuses of two requests of which the first waits for what is held until the second waits too."""
    with psycopg.connect(shop.database_url) as holder, ThreadPoolExecutor(2) as threads:
        holder.execute(held, values)
        running = [threads.submit(first)]
        waiting_for_a_lock(shop.database_url)
        running.append(threads.submit(second))
        waiting_for_a_lock(shop.database_url, processes=2)
        holder.commit()
        return [each.result(timeout=30).status_code for each in running]


def email_of(shop: Service, customer_id: int) -> str:
    [(email,)] = rows(shop, "select email_address from customer where id = %s", customer_id)
    return str(email)


def test_a_price_that_falls_below_a_cost_that_rises_at_once_is_noted(shop: Service, steps: ResellerSteps) -> None:
    sku = sell(shop, "SQUEEZED", 20, purchase_cost=5)
    price, cost = f"price_list,sku,single_unit_cost\ndefault,{sku},11\n", f"sku,purchase_cost\n{sku},15\n"
    held = "select from change where topic = 'prices' for no key update"
    statuses = both(shop, held, [], lambda: steps.load("price-list", price), lambda: steps.load("products", cost))
    assert statuses == [200, 200]
    below = "select sku from product_below_cost b join product p on p.id = b.product_id where sku = %s"
    assert rows(shop, below, sku) == [(sku,)]


def test_a_customer_is_changed_while_an_import_waits_to_change_it(shop: Service, steps: ResellerSteps) -> None:
    customer = shop.customer()
    rows_of_file = f"email_address,discount\n{email_of(shop, customer.id)},2\n"
    changed = both(
        shop,
        "select from customer where id = %s for no key update",
        [customer.id],
        lambda: steps.terms(customer.id, first_name="Ann"),
        lambda: steps.load("customers", rows_of_file),
    )
    assert changed == [200, 200]
    found = rows(shop, "select first_name, discount::text from customer where id = %s", customer.id)
    assert found == [("Ann", "2.00")]


@pytest.mark.parametrize("kind", ["customers", "contract-prices"])
def test_a_customer_is_erased_while_an_import_waits_to_change_it(
    shop: Service, steps: ResellerSteps, kind: str
) -> None:
    customer = shop.customer()
    cancel(shop, buy(customer))
    text = {
        "customers": f"email_address,discount\n{email_of(shop, customer.id)},2\n",
        "contract-prices": f"customer_id,sku,single_unit_cost,valid_from\n{customer.id},PHONE,45,2026-01-01\n",
    }
    erased, imported = both(
        shop,
        "select from credit_exposure where customer_id = %s for no key update",
        [customer.id],
        lambda: steps.post(f"/api/customer/{customer.id}/erase"),
        lambda: steps.load(kind, text[kind]),
    )
    assert erased == 200
    assert imported == {"customers": 422, "contract-prices": 200}[kind]


def test_a_customer_is_erased_while_another_is_blocked(shop: Service, steps: ResellerSteps) -> None:
    gone, blocked = shop.customer(), shop.customer()
    held = "select from change where topic = 'customers' for no key update"
    statuses = both(
        shop, held, [], lambda: steps.post(f"/api/customer/{gone.id}/erase"), lambda: steps.block(blocked.id)
    )
    assert statuses == [200, 200]


def test_a_record_of_a_customer_whose_import_is_rolled_back_at_once_is_rejected(
    shop: Service, steps: ResellerSteps
) -> None:
    added = steps.load("customers", "email_address,first_name,last_name\ngone@once.example,Ann,Gone\n").json()
    [(customer_id,)] = rows(shop, "select id from customer where email_key = 'gone@once.example'")
    statuses = both(
        shop,
        "select from change where topic = 'customers' for no key update",
        [],
        lambda: steps.roll_back(added["id"], force=False),
        lambda: steps.post(f"/api/customer/{customer_id}/key", {"name": "first"}),
    )
    assert statuses == [200, 409]
    assert rows(shop, "select from customer where id = %s", customer_id) == []


def test_a_roll_back_keeps_an_added_customer_who_gets_a_key_at_once(shop: Service, steps: ResellerSteps) -> None:
    added = steps.load("customers", "email_address,first_name,last_name\nnew@once.example,Ann,New\n").json()
    insert = (
        "insert into api_key (customer_id, name, prefix, hash, created_at)"
        " select id, 'first', 'first', 'first', now() from customer where email_key = %s"
    )
    with psycopg.connect(shop.database_url) as holder, ThreadPoolExecutor(1) as threads:
        holder.execute(insert, ["new@once.example"])
        undone = threads.submit(steps.roll_back, added["id"], force=True)
        waiting_for_a_lock(shop.database_url)
        holder.commit()
        response = undone.result(timeout=30)
    assert (response.status_code, response.json()["kept"]) == (200, ["new@once.example"])
