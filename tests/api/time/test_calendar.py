"""Clock changes, bank holidays and leap days, as customers see them (specification, section 1)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.orders import at, buy, confirm, create, read, sell, uk
from support.service import Customer, Service
from support.shop import STANDARD
from tradecounter.kit.clock import UK

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def standard(placed: dict[str, Any]) -> tuple[str, str]:
    [option] = [option for option in placed["shipping_options"] if option["id"] == STANDARD]
    return option["expected_dispatch_date"], option["expected_arrival_date"]


@pytest.mark.parametrize(
    ("created", "last"),
    [
        pytest.param(uk(2026, 3, 28, 12), uk(2026, 3, 29, 13), id="over the night with an hour less"),
        pytest.param(uk(2026, 10, 24, 12), uk(2026, 10, 25, 11), id="over the night with an hour more"),
        pytest.param(uk(2028, 2, 28, 12), uk(2028, 2, 29, 12), id="into a leap day"),
        pytest.param(uk(2026, 12, 31, 23, 59, 59), uk(2027, 1, 1, 23, 59, 59), id="into a new year"),
    ],
)
def test_a_pending_order_can_be_confirmed_for_exactly_24_hours(
    shop: Service, customer: Customer, created: datetime, last: datetime
) -> None:
    with at(shop, created):
        in_time, late = create(customer), create(customer)
    with at(shop, last):
        assert confirm(customer, in_time).status_code == 200
    with at(shop, last + SECOND):
        assert confirm(customer, late).status_code == 410
        assert confirm(customer, in_time).status_code == 200  # a confirmed order does not expire


def test_orders_of_a_repeated_hour_are_sorted_by_actual_time(shop: Service) -> None:
    customer = shop.customer()
    first_half_past = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    placed = []
    for moment in (first_half_past, first_half_past + HOUR):
        with at(shop, moment):
            placed.append(buy(customer))
    assert [read(customer, order)["created_on"] for order in placed] == ["2026-10-25T01:30:00"] * 2
    listed = [order["id"] for order in customer.get("/order").json()]
    assert listed == [order["order_id"] for order in reversed(placed)]


def test_a_skipped_hour_never_appears(shop: Service, customer: Customer) -> None:
    last = uk(2026, 3, 29, 0, 59, 59)
    written = []
    for moment in (last, last + SECOND):
        with at(shop, moment):
            written.append(read(customer, buy(customer))["created_on"])
    assert written == ["2026-03-29T00:59:59", "2026-03-29T02:00:00"]


@pytest.mark.parametrize(
    ("confirmed", "days", "due"),
    [
        pytest.param(uk(2026, 3, 28, 12), 1, "2026-03-29T23:59:59", id="the day with 23 hours"),
        pytest.param(uk(2026, 10, 24, 12), 1, "2026-10-25T23:59:59", id="the day with 25 hours"),
        pytest.param(uk(2026, 10, 24, 0, 30), 30, "2026-11-23T23:59:59", id="from summer into winter"),
        pytest.param(uk(2028, 1, 30, 12), 30, "2028-02-29T23:59:59", id="a leap day"),
    ],
)
def test_a_debt_is_overdue_from_midnight_after_its_last_day(
    shop: Service, confirmed: datetime, days: int, due: str
) -> None:
    customer = shop.customer(term_days=days)
    with at(shop, confirmed):
        buy(customer)
    end = datetime.fromisoformat(due).replace(tzinfo=UK)
    for moment, overdue in ((end, False), (end + SECOND, True)):
        with at(shop, moment):
            [found] = customer.get("/customer/credit").json()["outstanding_orders"]
        assert (found["due_on"], found["is_overdue"]) == (due, overdue)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("day", "change"),
    [
        pytest.param(uk(2026, 3, 30), "valid_from", id="after the night with an hour less"),
        pytest.param(uk(2026, 10, 26), "valid_from", id="after the night with an hour more"),
        pytest.param(uk(2026, 7, 1), "valid_from", id="in summer, when it is the day before in UTC"),
        pytest.param(uk(2028, 2, 29), "valid_until", id="the end of a leap day"),
        pytest.param(uk(2026, 10, 25), "valid_until", id="the end of a day with 25 hours"),
    ],
)
def test_contract_prices_begin_and_end_at_midnight_in_the_uk(shop: Service, day: datetime, change: str) -> None:
    customer, sku = shop.customer(), sell(shop, "AGREED", 10)
    agreed = {"customer_id": customer.id, "sku": sku, "single_unit_cost": 8, change: str(day.date())}
    shop.must_load("contract-prices", [agreed])
    if change == "valid_from":
        midnight, costs = day, [10, 8]
    else:
        midnight, costs = uk(*(day + timedelta(days=1)).timetuple()[:3]), [8, 10]
    seen = []
    for moment in (midnight - SECOND, midnight):
        with at(shop, moment):
            priced = customer.get(f"/product/{sku}").json()["single_unit_cost"]
            [line] = create(customer, [(sku, 1)])["items"]
            assert line["cost_net"] == priced
            seen.append(priced)
    assert seen == costs


@pytest.mark.parametrize(
    ("moment", "dates"),
    [
        pytest.param(uk(2026, 4, 2, 16), ("2026-04-07T16:00:00", "2026-04-09T17:30:00"), id="over Easter"),
        pytest.param(uk(2027, 3, 25, 15), ("2027-03-25T16:00:00", "2027-03-31T17:30:00"), id="Easter and clocks"),
        pytest.param(uk(2026, 5, 1, 16), ("2026-05-05T16:00:00", "2026-05-07T17:30:00"), id="early May"),
        pytest.param(uk(2026, 8, 28, 15), ("2026-08-28T16:00:00", "2026-09-02T17:30:00"), id="summer bank holiday"),
        pytest.param(uk(2027, 12, 24, 16), ("2027-12-29T16:00:00", "2027-12-31T17:30:00"), id="two substitute days"),
        pytest.param(uk(2027, 12, 31, 16), ("2028-01-04T16:00:00", "2028-01-06T17:30:00"), id="a substitute New Year"),
        pytest.param(uk(2028, 2, 28, 16), ("2028-02-29T16:00:00", "2028-03-02T17:30:00"), id="a leap day"),
    ],
)
def test_dispatch_skips_englands_bank_holidays(
    shop: Service, customer: Customer, moment: datetime, dates: tuple[str, str]
) -> None:
    with at(shop, moment):
        pending = create(customer)
        assert standard(pending) == dates
        assert standard(confirm(customer, pending).json()) == dates


@pytest.mark.parametrize(
    ("delivery", "leaves"),
    [
        pytest.param("2027-03-26", "2027-03-30T16:00:00", id="expected on Good Friday"),
        pytest.param("2027-03-29T09:00:00", "2027-03-30T16:00:00", id="expected on Easter Monday"),
        pytest.param("2026-12-28", "2026-12-29T16:00:00", id="expected on a substitute day"),
        pytest.param("2026-12-24T23:59:59", "2026-12-29T16:00:00", id="expected in the last second of Christmas Eve"),
    ],
)
def test_a_back_order_is_dispatched_on_the_working_day_after_a_delivery_on_a_holiday(
    shop: Service, customer: Customer, delivery: str, leaves: str
) -> None:
    sku = sell(shop, f"HOLIDAY-{delivery.replace(':', '.')}")
    shop.must_load("incoming", [{"sku": sku, "incoming": 5, "expected_on": delivery}])
    assert standard(create(customer, [(sku, 1)]))[0] == leaves


@pytest.mark.parametrize(
    ("moment", "leaves"),
    [
        pytest.param(uk(2026, 3, 30, 15, 59, 59), "2026-03-30T16:00:00", id="the first working day of summer time"),
        pytest.param(uk(2026, 3, 30, 16), "2026-03-31T16:00:00", id="at its cut-off"),
        pytest.param(uk(2026, 10, 26, 15, 59, 59), "2026-10-26T16:00:00", id="the first working day of winter"),
        pytest.param(uk(2026, 10, 26, 16), "2026-10-27T16:00:00", id="at its cut-off"),
    ],
)
def test_the_cut_off_is_in_local_time_after_a_clock_change(
    shop: Service, customer: Customer, moment: datetime, leaves: str
) -> None:
    with at(shop, moment):
        assert standard(create(customer))[0] == leaves
