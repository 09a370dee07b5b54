"""Concurrent dispatches, cancellations, confirmations and stock imports keep the books consistent."""

import itertools
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any

import psycopg
import pytest

from support.billing import issue_part
from support.orders import (
    buy,
    cancel,
    confirm,
    create,
    dispatch,
    faults_in_the_books,
    in_parallel,
    level,
    outstanding,
    read,
    rows,
    sell,
    shipments,
    take_back,
)  # fmt: skip
from support.service import Customer, Service
from support.waiting import waiting_for_a_lock
from tradecounter.kit.errors import DomainError
from tradecounter.returns.handle_returns import open_return
from tradecounter.returns.wire import ReturnedUnits, ReturnRequest
from tradecounter.shipments.fulfilment import add_video
from tradecounter.shipments.wire import OrderVideoResponse


@pytest.fixture(scope="module")
def customers(shop: Service) -> list[Customer]:
    return [shop.customer() for _ in range(6)]


def done(work: Callable[[], object]) -> bool:
    """Run a use case, and return whether it succeeded."""
    try:
        work()
    except DomainError:
        return False
    return True


def test_units_are_dispatched_only_once(shop: Service, customers: list[Customer]) -> None:
    sku = sell(shop, "LEAVING", available=20)
    for _ in range(4):
        placed = buy(customers[0], [(sku, 3)])
        [item] = placed["items"]
        calls = [partial(done, partial(dispatch, shop, placed, (item["id"], 2))) for _ in range(6)]
        assert Counter(in_parallel(calls)) == {True: 1, False: 5}
        assert len(read(customers[0], placed)["shipping"]) == 1
    assert level(shop, sku) == (8, 4, 0)
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_an_order_is_either_cancelled_or_dispatched(shop: Service, customers: list[Customer]) -> None:
    sku = sell(shop, "EITHER", available=20)
    for _ in range(4):
        placed = buy(customers[0], [(sku, 2)])
        calls = [partial(done, partial(end, shop, placed)) for end in (cancel, dispatch) * 3]
        assert Counter(in_parallel(calls))[True] == 1
        assert read(customers[0], placed)["status"] in {"Cancelled", "Dispatched"}
    assert faults_in_the_books(shop) == {}


def test_a_pending_order_can_be_confirmed_and_cancelled_concurrently(shop: Service, customers: list[Customer]) -> None:
    sku = sell(shop, "SOME-ORDER", available=4)
    owed = outstanding(shop, customers[1])
    for _ in range(4):
        pending = create(customers[1], [(sku, 2)])
        calls: list[Callable[[], Any]] = [
            *[lambda: confirm(customers[1], pending).status_code] * 3,  # noqa: B023 called within the loop
            *[lambda: done(partial(cancel, shop, pending))] * 2,  # noqa: B023 the same
        ]
        *statuses, first, second = in_parallel(calls)
        assert set(statuses) <= {200, 410}
        assert first != second
    assert outstanding(shop, customers[1]) == owed
    assert level(shop, sku) == (4, 0, 0)
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_orders_that_share_products_can_all_be_cancelled_concurrently(shop: Service, customers: list[Customer]) -> None:
    skus = [sell(shop, f"KNOT-{number}", available=5) for number in range(3)]
    placed = [
        buy(customer, [(sku, 4) for sku in order])
        for customer, order in zip(customers, itertools.permutations(skus), strict=True)
    ]
    assert all(in_parallel([partial(done, partial(cancel, shop, order)) for order in placed]))
    assert [level(shop, sku) for sku in skus] == [(5, 0, 0)] * 3
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_concurrent_operations_of_all_kinds_keep_the_books_consistent(shop: Service, customers: list[Customer]) -> None:
    skus = [sell(shop, f"ALL-{number}", available=6) for number in range(3)]
    for round_ in range(2):
        placed = [
            buy(c, [(sku, 3) for sku in order])
            for c, order in zip(customers, itertools.permutations(skus), strict=True)
        ]
        pending = [create(c, [(sku, 2) for sku in skus[::-1]]) for c in customers]
        calls: list[Callable[[], Any]] = []
        for customer, old, new in zip(customers, placed, pending, strict=True):
            calls += [
                partial(done, partial(dispatch, shop, old)),
                partial(confirm, customer, new),
                partial(done, partial(cancel, shop, old)),
                partial(done, partial(cancel, shop, new)),
            ]
        rows = [[{"sku": sku, "available": 3 + round_} for sku in part] for part in (skus, skus[::-1], skus[1:])]
        calls += [partial(shop.must_load, "stock", part) for part in rows]
        results = in_parallel(calls)
        assert {r.status_code for r in results if hasattr(r, "status_code")} <= {200, 410}
        assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_a_shipment_is_either_taken_back_or_invoiced(shop: Service, customers: list[Customer]) -> None:
    sku = sell(shop, "BACK-OR-BILLED", available=60)
    outcomes = Counter[str]()
    for _ in range(8):
        placed = buy(customers[2], [(sku, 2)])
        dispatch(shop, placed)
        [shipment] = shipments(shop, placed)
        calls = [
            *[partial(done, partial(take_back, shop, placed, shipment))] * 2,
            *[partial(done, partial(issue_part, shop, placed))] * 2,
        ]
        first, second, *issued = in_parallel(calls)
        assert not (first and second)
        found = read(customers[2], placed)
        if first or second:
            assert issued == [False, False]
            assert (found["status"], found["items"][0]["quantity_dispatched"]) == ("Awaiting dispatch", 0)
            assert rows(shop, "select from invoice where order_id = %s", placed["order_id"]) == []
        else:
            assert issued == [True, True]
            assert found["status"] == "Invoiced"
            assert shipments(shop, placed) == [shipment]
        outcomes[found["status"]] += 1
    assert sum(outcomes.values()) == 8
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_a_shipment_is_taken_back_while_others_leave_and_stock_arrives(
    shop: Service, customers: list[Customer]
) -> None:
    sku = sell(shop, "BACK-AND-FORTH", available=8)
    placed = buy(customers[3], [(sku, 10)])
    [item] = placed["items"]
    dispatch(shop, placed, (item["id"], 4))
    [shipment] = shipments(shop, placed)
    calls: list[Callable[[], Any]] = [
        *[partial(done, partial(take_back, shop, placed, shipment))] * 3,
        *[partial(done, partial(dispatch, shop, placed, (item["id"], 2)))] * 3,
        partial(done, partial(cancel, shop, placed, "a test", (item["id"], 1))),
        partial(shop.must_load, "stock", [{"sku": sku, "available": 2}]),
    ]
    results = in_parallel(calls)
    assert Counter(results[:3]) == {True: 1, False: 2}
    left = 2 * sum(results[3:6])
    found = read(customers[3], placed)["items"][0]
    assert (found["quantity"], found["quantity_dispatched"]) == (9, left)
    assert shipment not in shipments(shop, placed)
    assert faults_in_the_books(shop) == {}


@pytest.mark.sweep
def test_a_shipment_is_either_taken_back_or_its_units_come_back(shop: Service, customers: list[Customer]) -> None:
    sku = sell(shop, "BACK-OR-RETURNED", available=40)
    for _ in range(6):
        placed = buy(customers[4], [(sku, 2)])
        dispatch(shop, placed)
        [shipment], [item] = shipments(shop, placed), placed["items"]
        name, now = str(placed["order_reference"]), shop.clock.now()

        def returning(name: str = name, item: int = item["id"], now: datetime = now) -> None:
            shop.in_transaction(
                lambda tx: open_return(tx, name, ReturnRequest([ReturnedUnits(item, 1)], "Faulty"), now)
            )

        calls = [partial(done, partial(take_back, shop, placed, shipment)), partial(done, returning)]
        assert Counter(in_parallel(calls)) == {True: 1, False: 1}
    assert faults_in_the_books(shop) == {}


def test_an_order_that_is_cancelled_meanwhile_gets_no_video(shop: Service, customers: list[Customer]) -> None:
    placed = buy(customers[0])
    video, now = OrderVideoResponse("https://v.example/1.mp4", "https://v.example/1.m3u8"), shop.clock.now()
    name = str(placed["order_reference"])
    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as holder:
        holder.execute("select from orders where order_reference = %s for update", [name])
        cancelled = threads.submit(cancel, shop, placed)
        waiting_for_a_lock(shop.database_url)
        added = threads.submit(shop.in_transaction, partial(add_video, reference=name, video=video, now=now))
        waiting_for_a_lock(shop.database_url, processes=2)
        holder.commit()
        cancelled.result(timeout=30)
        with pytest.raises(DomainError, match="is cancelled: only confirmed orders have a packing video"):
            added.result(timeout=30)
    assert customers[0].get(f"/order/{placed['order_id']}/video").status_code == 404
