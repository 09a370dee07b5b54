"""Stock that is counted with what is allocated to orders: `import stock --on-hand`."""

import pytest

from support.orders import buy, dispatch, faults_in_the_books, level, lines, sell
from support.service import Customer, Service
from tradecounter.bulk.differences import Change


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def test_what_is_allocated_to_orders_is_not_for_sale_again(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "COUNTED", available=10)
    placed = buy(customer, [(sku, 4)])
    report = shop.must_load("stock", [{"sku": sku, "available": 10}], on_hand=True)
    assert level(shop, sku) == (6, 4, 0)
    assert (report.changed, report.unchanged) == (0, 1)
    # Without it, the four would be sold a second time.
    shop.must_load("stock", [{"sku": sku, "available": 10}])
    assert level(shop, sku) == (10, 4, 0)
    dispatch(shop, placed)
    shop.must_load("stock", [{"sku": sku, "available": 6}], on_hand=True)
    assert level(shop, sku) == (6, 0, 0)


def test_waiting_orders_are_served_from_what_is_on_hand_beyond_the_allocated(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "WAITED", available=2)
    placed = buy(customer, [(sku, 5)])
    found: list[Change] = []
    shop.must_load("stock", [{"sku": sku, "available": 12}], on_hand=True, on_change=found.append)
    assert lines(shop, placed) == [(sku, 5, 0)]
    assert level(shop, sku) == (7, 5, 0)
    # Told is what is for sale in the end.
    assert found == [Change(1, sku, "changed", {"available": 0}, {"available": 7})]


def test_less_on_hand_than_allocated_is_warned_of_and_leaves_nothing_for_sale(
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


def test_a_product_without_a_level_gets_what_is_on_hand(shop: Service) -> None:
    shop.must_load("products", [{"sku": "FIRST", "name": "First", "manufacturer": "acme"}])
    assert shop.must_load("stock", [{"sku": "FIRST", "available": 3}], on_hand=True).added == 1
    assert level(shop, "FIRST") == (3, 0, 0)
