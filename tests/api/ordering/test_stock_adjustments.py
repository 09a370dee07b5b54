"""Corrections of what is on hand: adjustments, and roll-backs of stock imports."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from support.orders import buy, confirm, create, faults_in_the_books, in_parallel, level, lines, sell
from support.service import Customer, Service
from tradecounter.db.statement import Statement
from tradecounter.imports.run import roll_back_import
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.adjust_stock import AdjustedStock, Adjustment, adjust_stock
from tradecounter.orders.queries.today import stock_adjusted

NOW = datetime(2026, 6, 1, tzinfo=UTC)
AUDITED = Statement("select before, after from audit_entry where subject = :subject order by id desc limit 1")


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def adjust(shop: Service, *adjustments: Adjustment) -> list[AdjustedStock]:
    return shop.in_transaction(partial(adjust_stock, adjustments=adjustments, now=NOW))


def counted(sku: str, **values: Any) -> Adjustment:
    return Adjustment(sku=sku, reason="counted", **values)


def test_units_on_hand_are_changed_or_set(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "ADJUSTED", available=10)
    buy(customer, [(sku, 4)])
    assert adjust(shop, counted(sku, change=-3)) == [AdjustedStock(sku, 7, 3, 4, 0)]
    assert adjust(shop, counted(sku, set=12)) == [AdjustedStock(sku, 12, 8, 4, 0)]
    entry: Any = shop.in_transaction(lambda tx: tx.find_row(AUDITED, subject=f"product/{sku}"))
    assert entry == ({sku: 7}, {sku: 12, "reason": "counted"})


def test_a_product_is_moved_with_its_units_or_without(shop: Service) -> None:
    sku, other = sell(shop, "MOVED", available=10), sell(shop, "STAYS", available=2)
    [moved] = adjust(shop, counted(sku, location="B-02-1"))
    assert moved == AdjustedStock(sku, 10, 10, 0, 0, "B-02-1")
    entry: Any = shop.in_transaction(lambda tx: tx.find_row(AUDITED, subject=f"product/{sku}"))
    assert entry == ({"location": ""}, {"location": "B-02-1", "reason": "counted"})
    adjust(shop, counted(sku, change=1))
    [moved, stays] = adjust(shop, counted(sku, set=9, location=""), counted(other, change=1))
    assert (moved, stays) == (AdjustedStock(sku, 9, 9, 0, 0), AdjustedStock(other, 3, 3, 0, 0))
    entry = shop.in_transaction(lambda tx: tx.find_row(AUDITED, subject="stock"))
    assert entry[0] == {sku: 11, f"{sku} location": "B-02-1", other: 2}
    with pytest.raises(DomainError, match="either change or set for MOVED, or its location"):
        adjust(shop, counted(sku))


def test_more_units_serve_back_orders_first(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "RETURNED", available=1)
    placed = buy(customer, [(sku, 3)])
    assert adjust(shop, counted(sku, change=5)) == [AdjustedStock(sku, 6, 3, 3, 0)]
    assert lines(shop, placed) == [(sku, 3, 0)]
    assert faults_in_the_books(shop) == {}


def test_allocated_units_cannot_be_taken_away(shop: Service, customer: Customer) -> None:
    sku, other = sell(shop, "PROMISED", available=5), sell(shop, "FREE", available=5)
    buy(customer, [(sku, 4)])
    with pytest.raises(DomainError, match="4 of 5 units are allocated") as rejected:
        adjust(shop, counted(other, set=0), counted(sku, set=3))
    assert rejected.value.kind is Kind.CONFLICT
    assert [error.field for error in rejected.value.field_errors] == ["items[1].set"]
    assert (level(shop, sku), level(shop, other)) == ((1, 4, 0), (5, 0, 0))


def test_the_products_whose_units_are_adjusted_are_counted_once_each(shop: Service) -> None:
    first, second, moved, same = (sell(shop, f"COUNTED-{number}", available=5) for number in range(4))
    day = NOW + timedelta(days=1)
    for each in (
        [counted(first, set=4), counted(second, change=2, location="A-1")],
        [counted(first, set=3)],
        [counted(moved, location="A-2")],
        [counted(same, set=5)],
    ):
        shop.in_transaction(partial(adjust_stock, adjustments=each, now=day))
    found = shop.in_transaction(partial(stock_adjusted, since=day))
    assert (found.count, found.latest) == (2, day)


def test_adjustments_and_confirmations_do_not_lose_units(shop: Service) -> None:
    sku = sell(shop, "RACED", available=5)
    customers = [shop.customer() for _ in range(6)]
    confirming = [partial(confirm, each, create(each, [(sku, 2)])) for each in customers]
    adjusting = [partial(adjust, shop, counted(sku, change=1)) for _ in range(6)]
    in_parallel([work for pair in zip(confirming, adjusting, strict=True) for work in pair])
    available, allocated, back_ordered = level(shop, sku)
    assert (available + allocated, allocated + back_ordered) == (11, 12)
    assert not (available and back_ordered)
    assert faults_in_the_books(shop) == {}


def test_stock_that_a_roll_back_restores_serves_back_orders(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "WRONGLY-0", available=9)
    emptied = shop.must_load("stock", [{"sku": sku, "available": 0}])
    placed = buy(customer, [(sku, 2)])
    assert lines(shop, placed) == [(sku, 0, 2)]
    assert emptied.id is not None
    done = shop.in_transaction(partial(roll_back_import, import_id=emptied.id, now=datetime.now(UTC)))
    assert (done.restored, level(shop, sku), lines(shop, placed)) == (1, (7, 2, 0), [(sku, 2, 0)])
    assert faults_in_the_books(shop) == {}
