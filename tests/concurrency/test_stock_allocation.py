"""Concurrent confirmations never allocate a unit of stock twice."""

import asyncio
import itertools
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from functools import partial
from typing import Any

import psycopg
import pytest

from support.orders import (
    buy,
    confirm,
    create,
    faults_in_the_books,
    in_parallel,
    level,
    lines,
    read,
    sell,
)
from support.service import MORNING, Customer, Service, running_service
from support.shop import price, product
from support.waiting import waiting_for_a_lock
from tradecounter.bulk.rows import Row
from tradecounter.db.pool import Database
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.goods_in.receive_goods import ReceivedGoods, receive_goods
from tradecounter.imports.run import import_and_commit
from tradecounter.kit.clock import day_begins
from tradecounter.orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.serve_back_orders import allocate_back_orders, update_expected_dates
from tradecounter.products.queries.products import find_product_ids
from tradecounter.stock.importing import StockRow
from tradecounter.stock.queries.stock import lock_levels

SET_STOCK = Statement(
    "update stock_level set available = 1 where product_id = (select id from product where sku = :sku)"
)
PLACE = Statement("select ctid::text from stock_level where product_id = :product_id")
BLOCKS_ANOTHER = Statement(
    "select exists (select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid)))"
)


@pytest.fixture(scope="module")
def customers(shop: Service) -> list[Customer]:
    """Ten accounts, so that no account's lock serialises the confirmations."""
    return [shop.customer() for _ in range(10)]


def test_fifty_confirmations_share_scarce_stock_and_back_order_the_rest(
    shop: Service, customers: list[Customer]
) -> None:
    sku = sell(shop, "SCARCE", available=61)
    pending = [(customer, create(customer, [(sku, 2)])) for customer in customers * 5]

    responses = in_parallel([partial(confirm, c, p) for c, p in pending])

    assert {response.status_code for response in responses} == {200}
    assert level(shop, sku) == (0, 61, 39)
    found = [(line, response.json()) for response in responses for line in lines(shop, response.json())]
    assert sum(allocated for (_, allocated, _), _ in found) == 61
    assert sorted(allocated for (_, allocated, _), _ in found) == [0] * 19 + [1] + [2] * 30
    for (customer, _), ((_, _, waiting), placed) in zip(pending, found, strict=True):
        assert read(customer, placed)["status"] == ("Back-ordered" if waiting else "Awaiting dispatch")
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_orders_do_not_wait_for_a_stock_import_that_is_still_reading(shop: Service, customers: list[Customer]) -> None:
    sku = sell(shop, "SLOWLY")
    waiting = create(customers[0], [(sku, 3)])
    assert confirm(customers[0], waiting).status_code == 200
    responses = []

    def rows() -> Iterator[Row[Any]]:
        # While the import waits for this row, the first order is confirmed again, and another one is created.
        responses.append(confirm(customers[0], waiting).status_code)
        responses.append(confirm(customers[1], create(customers[1], [(sku, 1)])).status_code)
        yield Row(1, StockRow(sku, 4))

    async def run() -> None:
        async with Database(shop.database_url, connections=1) as database:
            await import_and_commit(database, "stock", rows(), now=MORNING)

    asyncio.run(run())
    assert responses == [200, 200]
    assert level(shop, sku) == (0, 4, 0)
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_orders_with_the_same_products_in_another_order_do_not_deadlock(
    shop: Service, customers: list[Customer]
) -> None:
    skus = [f"KNOT-{number}" for number in range(200)]  # enough that locking them takes a while
    shop.must_load("products", [product(sku, weight_kg=0) for sku in skus])
    shop.must_load("price-list", [price(sku, 1) for sku in skus])
    shop.must_load("stock", [{"sku": sku, "available": 15} for sku in skus])
    directions = itertools.cycle([skus, skus[::-1]])
    pending = [(customer, create(customer, [(sku, 1) for sku in next(directions)])) for customer in customers * 2]

    responses = in_parallel([partial(confirm, c, p) for c, p in pending])

    assert {response.status_code for response in responses} == {200}
    assert {level(shop, sku) for sku in skus[::50]} == {(0, 15, 5)}
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_products_without_a_stock_level_yet_get_one_each_beside_one_that_has_one(
    shop: Service, customers: list[Customer]
) -> None:
    skus = [f"NEW-{number}" for number in range(3)]
    shop.must_load("products", [{"sku": sku, "name": sku, "manufacturer": "acme"} for sku in skus])
    shop.must_load("price-list", [{"price_list": "default", "sku": sku, "single_unit_cost": 5} for sku in skus])
    shop.must_load("stock", [{"sku": skus[1], "available": 4}])
    pending = [
        (customer, create(customer, [(sku, 1) for sku in order]))
        for customer, order in zip(itertools.cycle(customers), [*itertools.permutations(skus)] * 3, strict=False)
    ]

    responses = in_parallel([partial(confirm, c, p) for c, p in pending])

    assert {response.status_code for response in responses} == {200}
    assert [level(shop, sku) for sku in skus] == [(0, 0, 18), (0, 4, 14), (0, 0, 18)]


def test_a_lock_on_a_stock_level_that_another_transaction_makes_waits_for_its_units(shop: Service) -> None:
    shop.must_load("products", [product("MADE")])

    async def units_when_locked(product_id: int) -> int:
        async with transaction(shop.application.database) as tx:
            return (await lock_levels(tx, [product_id]))[product_id].available

    async def make_and_lock() -> int:
        async with transaction(shop.application.database) as tx:
            [(product_id, _)] = await find_product_ids(tx, ["MADE"])
            await lock_levels(tx, [product_id])
            await tx.execute(SET_STOCK, sku="MADE")
            waiting = asyncio.create_task(units_when_locked(product_id))
            while not (waiting.done() or await blocks_another(tx)):  # noqa: ASYNC110 a lock is no event
                await asyncio.sleep(0.005)
        return await waiting

    assert shop.call(make_and_lock) == 1


def test_a_lock_on_a_stock_level_writes_no_version_of_its_row(shop: Service) -> None:
    sku = sell(shop, "UNWRITTEN")

    async def places() -> list[Any]:
        async with transaction(shop.application.database) as tx:
            [(product_id, _)] = await find_product_ids(tx, [sku])
            before = await tx.fetch_value(PLACE, product_id=product_id)
            await lock_levels(tx, [product_id])
            return [before, await tx.fetch_value(PLACE, product_id=product_id)]

    before, after = shop.call(places)
    assert before == after


@pytest.mark.sweep
@pytest.mark.parametrize("replace", [False, True])
def test_stock_imported_during_confirmations_is_allocated_once(
    shop: Service, customers: list[Customer], *, replace: bool
) -> None:
    skus = [sell(shop, f"COMING-{number}-{replace}", available=3) for number in range(4)]
    pending = [
        (customer, create(customer, [(sku, 2) for sku in order]))
        for customer, order in zip(itertools.cycle(customers), itertools.permutations(skus), strict=False)
    ]

    def confirm_status(customer: Customer, order: dict[str, Any]) -> int:
        return confirm(customer, order).status_code

    def bring_in(units: int) -> int:
        rows = [{"sku": sku, "available": units} for sku in skus[units % 2 :: 2]]
        return len(shop.load("stock", rows, replace=replace).errors)

    confirmations = [partial(confirm_status, c, p) for c, p in pending]
    imports = [partial(bring_in, n) for n in (4, 7, 9, 12)]
    results = in_parallel([*confirmations[::2], *imports, *confirmations[1::2]])

    assert set(results) == {200, 0}
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_on_hand_stock_imported_during_confirmations_is_allocated_once(
    shop: Service, customers: list[Customer]
) -> None:
    skus = [sell(shop, f"COUNTED-{number}", available=3) for number in range(2)]
    pending = [(customer, create(customer, [(sku, 2) for sku in order])) for customer in customers
               for order in (skus, skus[::-1])]  # fmt: skip

    def confirm_status(customer: Customer, order: dict[str, Any]) -> int:
        return confirm(customer, order).status_code

    def count() -> int:
        return len(shop.load("stock", [{"sku": sku, "available": 30} for sku in skus], on_hand=True).errors)

    confirmations = [partial(confirm_status, c, p) for c, p in pending]
    results = in_parallel([*confirmations[::2], *[partial(count)] * 3, *confirmations[1::2]])

    assert set(results) == {200, 0}
    # All thirty units on hand are allocated, whatever the sequence; the other ten are back-ordered.
    assert [level(shop, sku) for sku in skus] == [(0, 30, 10)] * 2
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_two_servers_do_not_allocate_the_same_stock(shop: Service, customers: list[Customer]) -> None:
    sku = sell(shop, "SHARED", available=15)
    with running_service(shop.database_url) as second:
        on_second = [Customer(c.id, c.key, second.client(**{"X-Api-Key": c.key})) for c in customers]
        pending = [(customer, create(customer, [(sku, 1)])) for customer in [*customers, *on_second]]
        responses = in_parallel([partial(confirm, c, p) for c, p in pending])
    assert {response.status_code for response in responses} == {200}
    assert level(shop, sku) == (0, 15, 5)
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_an_order_whose_products_arrive_concurrently_awaits_dispatch(shop: Service, customers: list[Customer]) -> None:
    one, other = sell(shop, "MOMENT-1"), sell(shop, "MOMENT-2")
    placed = buy(customers[0], [(one, 1), (other, 1)])

    async def bring_in(tx: Transaction, sku: str) -> None:
        await tx.execute(SET_STOCK, sku=sku)
        await allocate_back_orders(tx)

    async def bring_in_alone(sku: str) -> None:
        async with transaction(shop.application.database) as tx:
            await bring_in(tx, sku)

    async def bring_in_both() -> None:
        async with transaction(shop.application.database) as tx:
            await bring_in(tx, one)
            meanwhile = asyncio.create_task(bring_in_alone(other))
            while not (meanwhile.done() or await blocks_another(tx)):  # noqa: ASYNC110 a lock is no event
                await asyncio.sleep(0.005)
        await meanwhile

    shop.call(bring_in_both)

    assert lines(shop, placed) == [(one, 1, 0), (other, 1, 0)]
    assert read(customers[0], placed)["status"] == "Awaiting dispatch"


async def blocks_another(tx: Transaction) -> bool:
    """Return whether another transaction waits for a lock that this one holds."""
    waiting: bool = await tx.find_value(BLOCKS_ANOTHER)
    return waiting


def test_a_confirmation_that_waits_for_goods_in_does_not_count_on_the_delivery_that_they_were(
    shop: Service, customers: list[Customer]
) -> None:
    sku = sell(shop, "JUST-IN")
    days = ("2026-06-22", "2026-07-20")
    shop.must_load("incoming", [{"sku": sku, "incoming": 5, "expected_on": day} for day in days])
    pending = create(customers[0], [(sku, 8)])
    moment, now = day_begins(date.fromisoformat(days[0])), shop.clock.now()
    goods = [ReceivedGoods(sku=sku, expected_on=moment, units=5)]
    with psycopg.connect(shop.database_url) as holder, ThreadPoolExecutor(2) as threads:
        holder.execute("select from stock_level for update")
        received = threads.submit(shop.in_transaction, partial(receive_goods, received=goods, now=now))
        waiting_for_a_lock(shop.database_url)
        confirmed = threads.submit(confirm, customers[0], pending)
        waiting_for_a_lock(shop.database_url, processes=2)
        holder.commit()
        received.result(timeout=30)
        found = confirmed.result(timeout=30).json()
    assert level(shop, sku) == (0, 5, 3)
    assert found["shipping_method"]["expected_dispatch_date"][:10] == "2026-07-21", (
        "the working day after the next delivery"
    )


def test_an_order_that_is_served_while_expected_dates_are_updated_gets_no_date_of_a_delivery(
    shop: Service, customers: list[Customer]
) -> None:
    sku, now = sell(shop, "SERVED-THEN"), shop.clock.now()
    placed = buy(customers[0], [(sku, 5)])
    shop.must_load("incoming", [{"sku": sku, "incoming": 9, "expected_on": "2026-07-20"}])
    with ThreadPoolExecutor(1) as threads:

        async def serve(tx: Transaction) -> Future[int]:
            await lock_waiting_orders(tx)
            await tx.execute(Statement("lock table orders in exclusive mode"))  # reads go on
            update = partial(update_expected_dates, now=now)
            updating = threads.submit(shop.in_transaction, update)
            await asyncio.to_thread(waiting_for_a_lock, shop.database_url)
            await adjust_stock(tx, [Adjustment(sku=sku, change=5, reason="found")], now)
            return updating

        assert shop.in_transaction(serve).result(timeout=30) == 0
    assert lines(shop, placed) == [(sku, 5, 0)]
