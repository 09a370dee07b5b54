"""Shipping options and their dates (specification, shipping cost, shipping dates)."""

from datetime import datetime
from typing import Any

import pytest

from support.orders import at, buy, confirm, create, rows, sell, uk
from support.service import Customer, Service
from support.shop import NEXT_DAY, STANDARD, order
from tradecounter.stock.queries.stock import store_delivery


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def expect(shop: Service, sku: str, *deliveries: tuple[int, str]) -> None:
    """Import deliveries of a product: units and date."""
    shop.must_load("incoming", [{"sku": sku, "incoming": units, "expected_on": day} for units, day in deliveries])


def standard(created: dict[str, Any]) -> dict[str, Any]:
    [option] = [option for option in created["shipping_options"] if option["id"] == STANDARD]
    found: dict[str, Any] = option
    return found


def dispatch(created: dict[str, Any]) -> str | None:
    found: str | None = standard(created).get("expected_dispatch_date")
    return found


def test_a_method_is_not_offered_above_its_weight_limit(customer: Customer) -> None:
    at_limit = create(customer, [("SWITCH", 6)])
    over = create(customer, [("SWITCH", 6), ("CABLE", 1)])
    assert [option["id"] for option in at_limit["shipping_options"]] == [NEXT_DAY, STANDARD]
    assert [option["id"] for option in over["shipping_options"]] == [NEXT_DAY]


@pytest.mark.spec("2 Order request", "shipping options have a price, and dates")
@pytest.mark.parametrize(("quantity", "cost"), [(1, 5.05), (5, 5.25), (13, 5.65), (299, 19.95)])
def test_an_options_cost_depends_on_its_base_cost_and_the_weight(
    customer: Customer, quantity: int, cost: float
) -> None:
    assert standard(create(customer, [("CABLE", quantity)]))["cost_net"] == cost


@pytest.mark.spec("2 Order request", "shipping options have a price, and dates")
@pytest.mark.parametrize(
    ("now", "leaves", "arrives"),
    [
        pytest.param(
            uk(2026, 6, 16, 15, 59, 59), "2026-06-16T16:00:00", "2026-06-18T17:30:00", id="before the cut-off"
        ),
        pytest.param(uk(2026, 6, 16, 16), "2026-06-17T16:00:00", "2026-06-19T17:30:00", id="at the cut-off"),
        pytest.param(uk(2026, 6, 20, 9), "2026-06-22T16:00:00", "2026-06-24T17:30:00", id="on a Saturday"),
        pytest.param(uk(2026, 12, 24, 16), "2026-12-29T16:00:00", "2026-12-31T17:30:00", id="over Christmas"),
        pytest.param(uk(2026, 10, 24, 12), "2026-10-26T16:00:00", "2026-10-28T17:30:00", id="over the clock change"),
    ],
)
def test_dates_depend_on_the_cut_off_and_working_days_in_uk_time(
    shop: Service, customer: Customer, now: datetime, leaves: str, arrives: str
) -> None:
    with at(shop, now):
        option = standard(create(customer))
    assert (option["expected_dispatch_date"], option["expected_arrival_date"]) == (leaves, arrives)


def test_the_confirmation_updates_the_dates_of_all_options(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    with at(shop, uk(2026, 6, 16, 17)):
        confirmed = confirm(customer, pending).json()
    assert {o["id"]: o["expected_dispatch_date"] for o in confirmed["shipping_options"]} == {
        STANDARD: "2026-06-17T16:00:00",
        NEXT_DAY: "2026-06-16T17:30:00",
    }
    assert confirmed["shipping_method"] == standard(confirmed)


def test_units_that_no_delivery_covers_have_no_dates(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "UNCOVERED", available=2)
    assert dispatch(create(customer, [(sku, 2)])) == "2026-06-16T16:00:00"
    for found in (create(customer, [(sku, 3)]), create(customer, [("PHONE", 1), (sku, 3)]), buy(customer, [(sku, 3)])):
        assert found["shipping_options"]
        for option in found["shipping_options"]:
            assert option.keys() == {"id", "provider", "description", "cost_net", "total_gross"}


@pytest.mark.parametrize("quote", [False, True])
def test_a_delivery_counts_before_this_process_has_seen_it(shop: Service, customer: Customer, quote: bool) -> None:
    sku = sell(shop, f"JUST-ANNOUNCED-{quote}")
    pending = create(customer, [(sku, 3)])
    product_id = rows(shop, "select id from product where sku = %s", sku)[0][0]
    announced = uk(2026, 6, 24)
    shop.in_transaction(lambda tx: store_delivery(tx, product_id, 5, announced))
    found = customer.post("/quote" if quote else "/order", order([(sku, 3)])).json()
    assert dispatch(found) == "2026-06-25T16:00:00"
    confirmed = confirm(customer, pending).json()
    assert dispatch(confirmed) == "2026-06-25T16:00:00"


def test_a_delivery_that_covers_the_shortfall_moves_the_dates(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "COVERED", available=2)
    expect(shop, sku, (3, "2026-06-24"), (4, "2026-07-03"))
    leaves = [dispatch(create(customer, [("PHONE", 1), (sku, quantity)])) for quantity in (2, 3, 5, 6, 9, 10)]
    assert leaves == [
        "2026-06-16T16:00:00",
        "2026-06-25T16:00:00",
        "2026-06-25T16:00:00",
        "2026-07-06T16:00:00",
        "2026-07-06T16:00:00",
        None,
    ]
    assert standard(create(customer, [(sku, 3)]))["expected_arrival_date"] == "2026-06-29T17:30:00"


def test_lines_of_one_sku_count_together_against_stock_and_deliveries(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "TOGETHER", available=5)
    expect(shop, sku, (1, "2026-06-24"))
    assert dispatch(create(customer, [(sku, 3), (sku, 2)])) == "2026-06-16T16:00:00"
    assert dispatch(create(customer, [(sku, 3), (sku, 3)])) == "2026-06-25T16:00:00"
    assert dispatch(create(customer, [(sku, 3), (sku, 4)])) is None


def test_the_dispatch_date_waits_for_the_last_product(shop: Service, customer: Customer) -> None:
    early, late = sell(shop, "EARLY"), sell(shop, "LATE")
    expect(shop, early, (5, "2026-06-19"))
    expect(shop, late, (5, "2026-06-30"))
    assert dispatch(create(customer, [(late, 1), (early, 1)])) == "2026-07-01T16:00:00"


def test_an_overdue_delivery_covers_nothing(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "OVERDUE")
    expect(shop, sku, (5, "2026-06-08"))
    assert dispatch(create(customer, [(sku, 1)])) is None


def test_deliveries_cover_earlier_back_orders_first(shop: Service) -> None:
    first, second = shop.customer(), shop.customer()
    sku = sell(shop, "CLAIMED")
    expect(shop, sku, (10, "2026-06-24"), (10, "2026-07-01"))
    assert dispatch(buy(first, [(sku, 8)])) == "2026-06-25T16:00:00"
    shop.refresh()

    assert dispatch(create(second, [(sku, 2)])) == "2026-06-25T16:00:00"
    assert dispatch(create(second, [(sku, 3)])) == "2026-07-02T16:00:00"
    assert dispatch(create(second, [(sku, 13)])) is None


def test_the_confirmation_uses_the_back_orders_of_that_moment(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "RECLAIMED", available=1)
    expect(shop, sku, (10, "2026-06-24"), (10, "2026-07-01"))
    slow, quick = create(customer, [(sku, 5)]), create(customer, [(sku, 8)])
    assert dispatch(slow) == dispatch(quick) == "2026-06-25T16:00:00"

    assert dispatch(confirm(customer, quick).json()) == "2026-06-25T16:00:00"
    assert dispatch(confirm(customer, slow).json()) == "2026-07-02T16:00:00"


def test_an_option_keeps_its_price_when_the_method_becomes_more_expensive(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    shop.must_load("shipping-methods", [{"id": STANDARD, "base_cost_net": 50}])
    dearer = create(customer)
    confirmed = confirm(customer, pending).json()
    shop.must_load("shipping-methods", [{"id": STANDARD, "base_cost_net": 5}])
    assert standard(dearer)["cost_net"] == 50.50
    assert confirmed["shipping_method"]["cost_net"] == 5.50
