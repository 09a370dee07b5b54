"""Which old records the worker deletes according to the settings, and which it keeps."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.billing import invoiced
from support.mail import forget_jobs
from support.orders import at, buy, cancel, confirm, create, faults_in_the_books, read, rows, sell
from support.quotes import keyed, price_as_support, request_quote, was_replayed
from support.service import MORNING, Customer, Service
from support.shop import ADDRESS
from tradecounter.bulk.roll_back import ROLL_BACK_WITHIN
from tradecounter.orders.cancel_order import expire_orders
from tradecounter.sites.schedule import BATCH
from tradecounter.sites.worker import drain

KEPT = timedelta(days=30)
ONE_SECOND = timedelta(seconds=1)
SETTINGS = ("keep_expired_orders", "keep_deleted_addresses", "keep_idempotent_responses")
JOBS = ("delete_expired_orders", "delete_old_addresses", "forget_import_changes", "forget_keys")


@pytest.fixture(autouse=True)
def no_jobs(shop: Service) -> Iterator[None]:
    forget_jobs(shop)
    yield
    forget_jobs(shop)


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def clean_up(service: Service, *kept: str) -> None:
    """Run the worker's periodic jobs; the named settings keep records for 30 days, the others for ever."""
    with psycopg.connect(service.database_url) as database:
        for job in JOBS:
            database.execute(
                "insert into procrastinate_jobs (queue_name, task_name, args) values ('default', %s, %s)",
                [job, '{"timestamp": 0}'],
            )
    with tempfile.TemporaryDirectory() as folder:
        chosen: dict[str, Any] = dict.fromkeys(kept, KEPT)
        settings = replace(service.settings, data_dir=Path(folder), **chosen)
        service.call(lambda: drain(settings, service.database_url, service.clock))
    assert rows(service, "select task_name from procrastinate_jobs where task_name = any(%s)", list(JOBS)) == []


def expire(service: Service) -> None:
    service.in_transaction(lambda tx: expire_orders(tx, service.clock.now()))


def exists(service: Service, created: dict[str, Any]) -> bool:
    found = rows(service, "select id from orders where confirmation_code = %s", created["confirmation_code"])
    return bool(found)


def test_old_expired_orders_and_quotes_are_deleted_with_their_lines(shop: Service, customer: Customer) -> None:
    kit = sell(shop, "KIT-1", 5, components=[{"sku": "CABLE", "quantity": 2}])
    pending, priced = create(customer, [(kit, 2), ("PHONE", 1)]), request_quote(customer)
    price_as_support(shop, priced, ("PHONE", "1"))
    lines = "select count(*) from order_line l join orders o on o.id = l.order_id where o.customer_id = %s"
    expiry = MORNING + shop.settings.quote_lifetime + ONE_SECOND
    with at(shop, expiry):
        expire(shop)
    with at(shop, expiry - ONE_SECOND + KEPT):
        clean_up(shop, "keep_expired_orders")
        assert [exists(shop, created) for created in (pending, priced)] == [False, True]
        assert rows(shop, lines, customer.id) == [(1,)]
        assert confirm(customer, pending).status_code == 404
        assert confirm(customer, priced).status_code == 410
    with at(shop, expiry + KEPT):
        clean_up(shop, "keep_expired_orders")
    assert rows(shop, lines, customer.id) == [(0,)]
    assert not exists(shop, priced)
    assert faults_in_the_books(shop) == {}


def test_only_expired_orders_are_deleted(shop: Service, customer: Customer) -> None:
    paid = invoiced(shop, customer)
    confirmed, cancelled, called_off = buy(customer), buy(customer), create(customer)
    waiting, bought = request_quote(customer), request_quote(customer)
    price_as_support(shop, bought, ("PHONE", "1"))
    bought = confirm(customer, bought).json()
    for created in (cancelled, called_off):
        cancel(shop, created)
    kept = [paid, confirmed, cancelled, called_off, waiting, bought]

    def readable() -> list[dict[str, Any]]:
        orders = [read(customer, placed) for placed in (paid, confirmed, cancelled, bought)]
        return [{**order, "expected_dispatch_date": ""} for order in orders]  # depends on the current time

    before = readable()
    with at(shop, MORNING + timedelta(days=3000)):
        expire(shop)
        clean_up(shop, *SETTINGS)
        assert all(exists(shop, created) for created in kept)
        assert readable() == before
        assert customer.get(f"/order/{paid['order_reference']}/invoice").status_code == 200
        assert "not priced yet" in confirm(customer, waiting).json()["message"]
    assert faults_in_the_books(shop) == {}


def test_old_deleted_addresses_are_removed_and_orders_keep_their_copies(shop: Service, customer: Customer) -> None:
    ids = [customer.post("/customer/address", ADDRESS).json()["id"] for _ in range(3)]
    placed = buy(customer, billing_address={"id": ids[0]}, shipping_address={"id": ids[1]})
    pending = create(customer, billing_address={"id": ids[0]})
    for moment, gone in ((MORNING, ids[0]), (MORNING + ONE_SECOND, ids[1])):
        with at(shop, moment):
            assert customer.delete(f"/customer/address/{gone}").status_code == 204
    with at(shop, MORNING + KEPT + ONE_SECOND):
        clean_up(shop, "keep_deleted_addresses")
    assert rows(shop, "select id from address where customer_id = %s order by id", customer.id) == [
        (i,) for i in ids[1:]
    ]
    assert [address["id"] for address in customer.get("/customer/address").json()] == [ids[2]]
    copies = rows(
        shop, "select billing_address->>'street_one' from orders where customer_id = %s order by id", customer.id
    )
    assert copies == [(ADDRESS["street_one"],)] * 2
    assert read(customer, placed)["order_reference"] == placed["order_reference"]
    assert confirm(customer, pending).json()["billing_address"]["city"] == "Leeds"


def test_a_deleted_key_creates_a_second_order_and_a_newer_one_does_not(shop: Service, customer: Customer) -> None:
    old = keyed(customer, "old")
    with at(shop, MORNING + ONE_SECOND):
        young = keyed(customer, "young")
    with at(shop, MORNING + KEPT + ONE_SECOND):
        clean_up(shop, "keep_idempotent_responses")
        again = keyed(customer, "young")
        assert was_replayed(again)
        assert again.content == young.content
        second = keyed(customer, "old")
        assert second.status_code == 201
        assert not was_replayed(second)
        assert second.json()["confirmation_code"] != old.json()["confirmation_code"]


def test_without_the_settings_everything_is_kept(shop: Service, customer: Customer) -> None:
    address = customer.post("/customer/address", ADDRESS).json()["id"]
    customer.delete(f"/customer/address/{address}")
    pending = keyed(customer, "kept")
    with at(shop, MORNING + timedelta(days=3000)):
        expire(shop)
        clean_up(shop)
        assert exists(shop, pending.json())
        assert was_replayed(keyed(customer, "kept"))
        assert rows(shop, "select count(*) from address where id = %s", address) == [(1,)]


def test_many_records_are_deleted_in_batches(shop: Service, customer: Customer) -> None:
    count = 3 * BATCH + 1
    with psycopg.connect(shop.database_url) as database:
        database.execute("delete from address where deleted_at is not null")
        database.execute(
            "insert into address (customer_id, details, deleted_at) select %s, '{}', %s from generate_series(1, %s)",
            [customer.id, MORNING, count],
        )
        database.execute("create table batch (size bigint)")
        database.execute(
            "create function note_batch() returns trigger language plpgsql as $$"
            " begin insert into batch select count(*) from gone; return null; end $$;"
            "create trigger note_batch after delete on address referencing old table as gone"
            " for each statement execute function note_batch()"
        )
    with at(shop, MORNING + KEPT + ONE_SECOND):
        clean_up(shop, "keep_deleted_addresses")
    assert rows(shop, "select size from batch where size > 0 order by size") == [(1,)] + [(BATCH,)] * 3
    assert rows(shop, "select count(*) from address where customer_id = %s", customer.id) == [(0,)]


def test_the_changes_of_all_old_imports_are_deleted_at_once(shop: Service) -> None:
    """A reseller's ERP may import more often than the job runs."""
    with psycopg.connect(shop.database_url) as database:
        for age in (3, 2, 1, -1):
            database.execute(
                "with run as (insert into import_run (kind, at, made_by) values ('products', %s, 'test') returning id)"
                " insert into import_change (import_id, key, record) select id, 'A', 'A' from run",
                [MORNING - age * ONE_SECOND],
            )
    with at(shop, MORNING + ROLL_BACK_WITHIN):
        clean_up(shop)
    left = rows(
        shop, "select r.at from import_change c join import_run r on r.id = c.import_id where r.made_by = 'test'"
    )
    assert left == [(MORNING + ONE_SECOND,)]


def test_rows_locked_by_another_transaction_are_skipped(shop: Service, customer: Customer) -> None:
    locked, free = create(customer), create(customer)
    with at(shop, MORNING + timedelta(days=2)):
        expire(shop)
    with at(shop, MORNING + timedelta(days=2) + KEPT):
        with psycopg.connect(shop.database_url) as other:
            other.execute("select from orders where confirmation_code = %s for update", [locked["confirmation_code"]])
            clean_up(shop, "keep_expired_orders")
            assert [exists(shop, created) for created in (locked, free)] == [True, False]
        clean_up(shop, "keep_expired_orders")
        assert not exists(shop, locked)
