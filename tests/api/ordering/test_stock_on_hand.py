"""Stock counts that include allocated units: `import stock --on-hand`."""

import pytest

from support.orders import buy, dispatch, faults_in_the_books, level, lines, sell
from support.service import Customer, Service
from tradecounter.bulk.differences import Change


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def test_allocated_units_are_not_available_again(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "COUNTED", available=10)
    placed = buy(customer, [(sku, 4)])
    report = shop.must_load("stock", [{"sku": sku, "available": 10}], on_hand=True)
    assert level(shop, sku) == (6, 4, 0)
    assert (report.changed, report.unchanged) == (0, 1)
    # Without the option, the four units would be sold a second time.
    shop.must_load("stock", [{"sku": sku, "available": 10}])
    assert level(shop, sku) == (10, 4, 0)
    dispatch(shop, placed)
    shop.must_load("stock", [{"sku": sku, "available": 6}], on_hand=True)
    assert level(shop, sku) == (6, 0, 0)


def test_back_orders_are_served_from_unallocated_units_on_hand(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "WAITED", available=2)
    placed = buy(customer, [(sku, 5)])
    found: list[Change] = []
    shop.must_load("stock", [{"sku": sku, "available": 12}], on_hand=True, on_change=found.append)
    assert lines(shop, placed) == [(sku, 5, 0)]
    assert level(shop, sku) == (7, 5, 0)
    # The report shows the units before back-orders are served.
    assert found == [Change(1, sku, "changed", {"available": 0}, {"available": 10})]


def test_fewer_units_on_hand_than_allocated_cause_a_warning_and_leave_none_available(
    shop: Service, customer: Customer
) -> None:
    sku, other = sell(shop, "SHORT", available=5), sell(shop, "ENOUGH", available=5)
    buy(customer, [(sku, 5), (other, 5)])
    rows = [{"sku": other, "available": 5}, {"sku": sku, "available": 3}]
    report = shop.must_load("stock", rows, on_hand=True)
    assert [(warning.line, warning.message) for warning in report.warnings] == [
        (2, "available: 3 on hand, but 5 are allocated to orders")
    ]
    assert (level(shop, sku), level(shop, other)) == ((0, 5, 0), (0, 5, 0))
    assert faults_in_the_books(shop) == {}


def test_a_product_without_a_stock_level_gets_the_units_on_hand(shop: Service) -> None:
    shop.must_load("products", [{"sku": "FIRST", "name": "First", "manufacturer": "acme"}])
    assert shop.must_load("stock", [{"sku": "FIRST", "available": 3}], on_hand=True).added == 1
    assert level(shop, "FIRST") == (3, 0, 0)
