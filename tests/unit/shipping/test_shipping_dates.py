"""When an order leaves and arrives (specification, shipping dates)."""

from datetime import UTC, datetime, time

import pytest

from support.orders import uk
from tradecounter.shipping.rules import ShippingDates, shipping_dates
from tradecounter.stock.rules import FROM_STOCK, Cover

FOUR = time(16, 0)


def dates(
    confirmed: datetime, *, cut_off: time = FOUR, transit_days: int = 1, cover: Cover = FROM_STOCK
) -> ShippingDates:
    found = shipping_dates(confirmed, cut_off, transit_days, cover)
    assert found is not None
    return found


def dispatch(confirmed: datetime, cover: Cover = FROM_STOCK) -> datetime:
    return dates(confirmed, cover=cover).dispatch


@pytest.mark.parametrize(
    ("confirmed", "leaves"),
    [
        pytest.param(uk(2026, 6, 16, 9), uk(2026, 6, 16, 16), id="morning: the same day"),
        pytest.param(uk(2026, 6, 16, 15, 59, 59), uk(2026, 6, 16, 16), id="a second before the cut-off"),
        pytest.param(uk(2026, 6, 16, 16), uk(2026, 6, 17, 16), id="at the cut-off: the next day"),
        pytest.param(uk(2026, 6, 16, 0, 0), uk(2026, 6, 16, 16), id="at midnight"),
        pytest.param(uk(2026, 6, 19, 17), uk(2026, 6, 22, 16), id="Friday evening: Monday"),
        pytest.param(uk(2026, 6, 20, 9), uk(2026, 6, 22, 16), id="Saturday: Monday"),
        pytest.param(uk(2026, 6, 21, 23, 59, 59), uk(2026, 6, 22, 16), id="Sunday: Monday"),
        pytest.param(uk(2026, 4, 2, 15), uk(2026, 4, 2, 16), id="Maundy Thursday is a working day"),
        pytest.param(uk(2026, 4, 2, 16), uk(2026, 4, 7, 16), id="Easter: from Thursday to Tuesday"),
        pytest.param(uk(2026, 5, 25, 9), uk(2026, 5, 26, 16), id="spring bank holiday"),
        pytest.param(uk(2026, 12, 24, 16), uk(2026, 12, 29, 16), id="Christmas with a substitute day"),
        pytest.param(uk(2026, 12, 31, 18), uk(2027, 1, 4, 16), id="New Year's Day before a weekend"),
    ],
)
def test_an_order_from_stock_leaves_on_the_next_working_day_before_cut_off(
    confirmed: datetime, leaves: datetime
) -> None:
    assert dispatch(confirmed) == leaves


@pytest.mark.parametrize(
    ("confirmed", "leaves"),
    [
        pytest.param(
            datetime(2026, 6, 16, 14, 59, 59, tzinfo=UTC), uk(2026, 6, 16, 16), id="before it, by summer time"
        ),
        pytest.param(datetime(2026, 6, 16, 15, 0, tzinfo=UTC), uk(2026, 6, 17, 16), id="after it, by summer time"),
        pytest.param(datetime(2026, 1, 13, 15, 59, 59, tzinfo=UTC), uk(2026, 1, 13, 16), id="before it, in winter"),
        pytest.param(datetime(2026, 6, 16, 23, 30, tzinfo=UTC), uk(2026, 6, 17, 16), id="Wednesday already in the UK"),
        pytest.param(datetime(2026, 6, 21, 23, 30, tzinfo=UTC), uk(2026, 6, 22, 16), id="Monday already in the UK"),
    ],
)
def test_cut_off_and_day_are_in_uk_time(confirmed: datetime, leaves: datetime) -> None:
    assert dispatch(confirmed) == leaves


@pytest.mark.parametrize(
    ("confirmed", "leaves", "arrives"),
    [
        pytest.param(
            uk(2026, 3, 27, 15),
            datetime(2026, 3, 27, 16, 0, tzinfo=UTC),
            datetime(2026, 3, 30, 16, 30, tzinfo=UTC),
            id="over the start of summer time",
        ),
        pytest.param(
            uk(2026, 3, 29, 3),
            datetime(2026, 3, 30, 15, 0, tzinfo=UTC),
            datetime(2026, 3, 31, 16, 30, tzinfo=UTC),
            id="on the day on which summer time starts",
        ),
        pytest.param(
            uk(2026, 10, 23, 15),
            datetime(2026, 10, 23, 15, 0, tzinfo=UTC),
            datetime(2026, 10, 26, 17, 30, tzinfo=UTC),
            id="over the end of summer time",
        ),
        pytest.param(
            uk(2026, 10, 25, 1, 30),
            datetime(2026, 10, 26, 16, 0, tzinfo=UTC),
            datetime(2026, 10, 27, 17, 30, tzinfo=UTC),
            id="in the hour that summer time's end repeats",
        ),
    ],
)
def test_dates_are_correct_when_the_uk_clocks_change(confirmed: datetime, leaves: datetime, arrives: datetime) -> None:
    assert dates(confirmed) == (leaves, arrives)


@pytest.mark.parametrize(
    ("transit_days", "arrives"),
    [
        (0, uk(2026, 6, 18, 17, 30)),
        (1, uk(2026, 6, 19, 17, 30)),
        (2, uk(2026, 6, 22, 17, 30)),
        (6, uk(2026, 6, 26, 17, 30)),
        (7, uk(2026, 6, 29, 17, 30)),
    ],
)
def test_transit_days_are_working_days_and_arrival_is_at_half_past_five(transit_days: int, arrives: datetime) -> None:
    thursday = uk(2026, 6, 18, 10)
    assert dates(thursday, transit_days=transit_days).arrival == arrives


def test_bank_holidays_are_not_transit_days() -> None:
    assert dates(uk(2026, 12, 23, 10), transit_days=2).arrival == uk(2026, 12, 29, 17, 30)
    assert dates(uk(2026, 12, 29, 10), transit_days=3).arrival == uk(2027, 1, 4, 17, 30)


def test_an_order_is_dispatched_at_the_methods_cut_off() -> None:
    morning = uk(2026, 6, 16, 11, 30)
    assert dates(morning, cut_off=time(11, 31)).dispatch == uk(2026, 6, 16, 11, 31)
    assert dates(morning, cut_off=time(11, 30)).dispatch == uk(2026, 6, 17, 11, 30)


@pytest.mark.parametrize(
    ("delivery", "leaves"),
    [
        pytest.param(uk(2026, 6, 24, 9), uk(2026, 6, 25, 16), id="the working day after it"),
        pytest.param(
            uk(2026, 6, 24, 0, 0), uk(2026, 6, 25, 16), id="a delivery at midnight belongs to the day it begins"
        ),
        pytest.param(uk(2026, 6, 24, 23, 59, 59), uk(2026, 6, 25, 16), id="or at the day's last second"),
        pytest.param(uk(2026, 6, 26, 9), uk(2026, 6, 29, 16), id="Friday: Monday"),
        pytest.param(uk(2026, 6, 27, 9), uk(2026, 6, 29, 16), id="Saturday: Monday"),
        pytest.param(uk(2026, 8, 28, 9), uk(2026, 9, 1, 16), id="the Friday before the summer bank holiday: Tuesday"),
        pytest.param(uk(2026, 6, 16, 7), uk(2026, 6, 17, 16), id="expected today: tomorrow"),
        pytest.param(uk(2026, 6, 9, 9), uk(2026, 6, 16, 16), id="overdue for a week: today"),
        pytest.param(uk(2026, 6, 15, 9), uk(2026, 6, 16, 16), id="expected yesterday: today"),
    ],
)
def test_a_back_order_leaves_on_the_first_working_day_after_its_last_delivery(
    delivery: datetime, leaves: datetime
) -> None:
    tuesday = uk(2026, 6, 16, 9)
    assert dispatch(tuesday, Cover(known=True, last_delivery=delivery)) == leaves


def test_a_back_order_confirmed_after_the_cut_off_does_not_leave_that_day() -> None:
    overdue = Cover(known=True, last_delivery=uk(2026, 6, 9, 9))
    assert dispatch(uk(2026, 6, 16, 16), overdue) == uk(2026, 6, 17, 16)


def test_a_back_order_arrives_the_transit_days_after_its_dispatch() -> None:
    covered = Cover(known=True, last_delivery=uk(2026, 6, 24, 9))
    assert dates(uk(2026, 6, 16, 9), transit_days=2, cover=covered).arrival == uk(2026, 6, 29, 17, 30)


def test_a_back_order_that_no_known_delivery_covers_has_no_dates() -> None:
    assert shipping_dates(uk(2026, 6, 16, 9), FOUR, 1, Cover(known=False)) is None
