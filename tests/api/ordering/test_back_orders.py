"""Orders beyond the available stock; new stock serves back-orders first (specification, stock)."""

import pytest

from support.orders import at, buy, confirm, create, faults_in_the_books, level, lines, read, sell, uk
from support.service import Customer, Service
from support.shop import product

WAITING, READY = "Back-ordered", "Awaiting dispatch"


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def stock(shop: Service, **available: int) -> None:
    shop.must_load("stock", [{"sku": sku, "available": units} for sku, units in available.items()])


def shown(shop: Service, customer: Customer, sku: str) -> int:
    """Return the available units that the catalogue shows."""
    shop.refresh()
    available: int = customer.get(f"/product/{sku}").json()["availability"]["available"]
    return available


def test_an_order_allocates_the_available_stock_and_back_orders_the_rest(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "SCARCE", available=2)
    placed = buy(customer, [("PHONE", 1), (sku, 5)])
    assert lines(shop, placed) == [("PHONE", 1, 0), (sku, 2, 3)]
    assert level(shop, sku) == (0, 2, 3)
    assert read(customer, placed)["status"] == WAITING
    assert shown(shop, customer, sku) == 0


def test_an_order_for_all_the_stock_has_no_back_order(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "LAST", available=5)
    assert read(customer, buy(customer, [(sku, 5)]))["status"] == READY
    assert level(shop, sku) == (0, 5, 0)


def test_a_product_that_never_had_stock_can_be_ordered(shop: Service, customer: Customer) -> None:
    shop.must_load("products", [product("NEVER")])
    shop.must_load("contract-prices", [{"customer_id": customer.id, "sku": "NEVER", "single_unit_cost": 5}])
    placed = buy(customer, [("NEVER", 4)])
    assert read(customer, placed)["status"] == WAITING
    assert level(shop, "NEVER") == (0, 0, 4)


def test_new_stock_serves_the_earliest_confirmed_order_first(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "QUEUED", available=2)
    created_first = create(customer, [(sku, 4)])
    confirmed_first = buy(customer, [(sku, 5)])
    with at(shop, uk(2026, 6, 16, 10)):
        confirmed_second = confirm(customer, created_first).json()
    assert level(shop, sku) == (0, 2, 7)

    stock(shop, **{sku: 5})
    assert lines(shop, confirmed_first) == [(sku, 5, 0)]
    assert lines(shop, confirmed_second) == [(sku, 2, 2)]
    assert level(shop, sku) == (0, 7, 2)
    assert (read(customer, confirmed_first)["status"], read(customer, confirmed_second)["status"]) == (READY, WAITING)
    assert shown(shop, customer, sku) == 0

    stock(shop, **{sku: 10})
    assert lines(shop, confirmed_second) == [(sku, 4, 0)]
    assert level(shop, sku) == (8, 9, 0)
    assert read(customer, confirmed_second)["status"] == READY
    assert shown(shop, customer, sku) == 8


def test_an_order_that_is_confirmed_later_is_served_later_also_by_a_clock_that_was_set_back(
    shop: Service, customer: Customer
) -> None:
    sku = sell(shop, "SET-BACK")
    first = buy(customer, [(sku, 2)])
    with at(shop, uk(2026, 6, 16, 8)):
        later = buy(customer, [(sku, 2)])
    stock(shop, **{sku: 3})
    assert (lines(shop, first), lines(shop, later)) == ([(sku, 2, 0)], [(sku, 1, 1)])


def test_orders_of_different_customers_share_one_queue(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "MIXED")
    first = buy(shop.customer(), [(sku, 2)])
    second = buy(customer, [(sku, 2)])
    stock(shop, **{sku: 3})
    assert (lines(shop, first), lines(shop, second)) == ([(sku, 2, 0)], [(sku, 1, 1)])


def test_lines_of_one_order_are_served_in_sequence(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "LINES", available=1)
    placed = buy(customer, [(sku, 2), ("PHONE", 1), (sku, 2)])
    assert lines(shop, placed) == [(sku, 1, 1), ("PHONE", 1, 0), (sku, 0, 2)]
    stock(shop, **{sku: 2})
    assert lines(shop, placed) == [(sku, 2, 0), ("PHONE", 1, 0), (sku, 1, 1)]
    stock(shop, **{sku: 1})
    assert lines(shop, placed) == [(sku, 2, 0), ("PHONE", 1, 0), (sku, 2, 0)]
    assert level(shop, sku) == (0, 4, 0)


def test_an_order_awaits_dispatch_once_all_its_products_are_allocated(shop: Service, customer: Customer) -> None:
    one, other = sell(shop, "ONE"), sell(shop, "OTHER")
    placed = buy(customer, [(one, 1), (other, 1)])
    stock(shop, **{one: 1})
    assert read(customer, placed)["status"] == WAITING
    stock(shop, **{other: 1})
    assert read(customer, placed)["status"] == READY


def test_one_file_serves_orders_for_all_its_products(shop: Service, customer: Customer) -> None:
    one, other = sell(shop, "FILE-1"), sell(shop, "FILE-2")
    placed = [buy(customer, [(one, 2), (other, 3)]), buy(customer, [(other, 2), (one, 3)])]
    stock(shop, **{one: 4, other: 10})
    assert lines(shop, placed[0]) == [(one, 2, 0), (other, 3, 0)]
    assert lines(shop, placed[1]) == [(other, 2, 0), (one, 2, 1)]
    assert (level(shop, one), level(shop, other)) == ((0, 4, 1), (5, 5, 0))
    assert [read(customer, order)["status"] for order in placed] == [READY, WAITING]


def test_pending_orders_get_no_stock(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "WAITING")
    create(customer, [(sku, 3)])
    stock(shop, **{sku: 5})
    assert level(shop, sku) == (5, 0, 0)


def test_a_dry_run_serves_no_back_order(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "DRY")
    placed = buy(customer, [(sku, 3)])
    report = shop.must_load("stock", [{"sku": sku, "available": 5}], dry_run=True)
    assert report.changed == 1
    assert lines(shop, placed) == [(sku, 0, 3)]
    assert level(shop, sku) == (0, 0, 3)


def test_a_rejected_file_serves_no_back_order(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "REJECTED")
    placed = buy(customer, [(sku, 3)])
    report = shop.load("stock", [{"sku": sku, "available": 5}, {"sku": "NO-SUCH", "available": 5}])
    assert [error.line for error in report.errors] == [2]
    assert lines(shop, placed) == [(sku, 0, 3)]


def test_replacing_the_stock_keeps_allocations_and_back_orders(shop: Service, customer: Customer) -> None:
    kept, gone, waiting = sell(shop, "KEPT", available=9), sell(shop, "GONE", available=9), sell(shop, "STILL")
    buy(customer, [(kept, 1), (gone, 1), (waiting, 1)])
    stocked = [("PHONE", 100), ("CABLE", 1000), ("SWITCH", 3), (kept, 5)]
    shop.must_load("stock", [{"sku": sku, "available": units} for sku, units in stocked], replace=True)
    assert (level(shop, kept), level(shop, gone), level(shop, waiting)) == ((5, 1, 0), (0, 1, 0), (0, 0, 1))


def test_stock_and_credit_totals_match_the_orders_afterwards(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "FINAL", available=1)
    buy(customer, [(sku, 3), ("PHONE", 1), (sku, 1)])
    stock(shop, **{sku: 2})
    assert faults_in_the_books(shop) == {}
