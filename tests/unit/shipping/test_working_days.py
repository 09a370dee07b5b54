"""England's working days."""

from datetime import date, timedelta

import pytest

from tradecounter.shipping.rules import after_working_days, is_working_day, next_working_day


@pytest.mark.parametrize(
    "day",
    [
        pytest.param(date(2026, 1, 1), id="New Year's Day"),
        pytest.param(date(2028, 1, 3), id="New Year's Day on a Saturday: its substitute"),
        pytest.param(date(2026, 4, 3), id="Good Friday"),
        pytest.param(date(2026, 4, 6), id="Easter Monday"),
        pytest.param(date(2027, 3, 26), id="Good Friday in March"),
        pytest.param(date(2027, 3, 29), id="Easter Monday in March"),
        pytest.param(date(2026, 5, 4), id="early May bank holiday"),
        pytest.param(date(2026, 5, 25), id="spring bank holiday"),
        pytest.param(date(2026, 8, 31), id="summer bank holiday"),
        pytest.param(date(2026, 12, 25), id="Christmas Day"),
        pytest.param(date(2025, 12, 26), id="Boxing Day"),
        pytest.param(date(2026, 12, 28), id="Boxing Day on a Saturday: its substitute"),
        pytest.param(date(2027, 12, 27), id="Christmas Day on a Saturday: its substitute"),
        pytest.param(date(2027, 12, 28), id="Boxing Day on a Sunday: its substitute"),
        pytest.param(date(2022, 12, 27), id="Christmas Day on a Sunday: its substitute"),
        pytest.param(date(2022, 6, 3), id="Platinum Jubilee"),
        pytest.param(date(2023, 5, 8), id="coronation"),
        pytest.param(date(2026, 6, 20), id="a Saturday"),
        pytest.param(date(2026, 6, 21), id="a Sunday"),
    ],
)
def test_weekends_and_englands_bank_holidays_are_not_working_days(day: date) -> None:
    assert not is_working_day(day)


@pytest.mark.parametrize(
    "day",
    [
        pytest.param(date(2026, 1, 2), id="2 January is Scotland's"),
        pytest.param(date(2026, 3, 17), id="St Patrick's Day is Northern Ireland's"),
        pytest.param(date(2026, 7, 13), id="the Battle of the Boyne is Northern Ireland's"),
        pytest.param(date(2026, 8, 3), id="the first Monday in August is Scotland's"),
        pytest.param(date(2026, 11, 30), id="St Andrew's Day is Scotland's"),
        pytest.param(date(2022, 5, 30), id="the spring bank holiday of 2022 had moved"),
        pytest.param(date(2026, 4, 2), id="Maundy Thursday"),
        pytest.param(date(2026, 12, 24), id="Christmas Eve"),
        pytest.param(date(2026, 12, 29), id="the day after Boxing Day's substitute"),
    ],
)
def test_all_other_days_from_monday_to_friday_are_working_days(day: date) -> None:
    assert is_working_day(day)


def test_the_next_working_day_is_after_the_given_day() -> None:
    assert next_working_day(date(2026, 6, 16)) == date(2026, 6, 17)
    assert next_working_day(date(2026, 6, 19)) == date(2026, 6, 22)
    assert next_working_day(date(2026, 12, 24)) == date(2026, 12, 29)


def test_counting_working_days_skips_weekends_and_holidays() -> None:
    assert after_working_days(date(2026, 6, 16), 0) == date(2026, 6, 16)
    assert after_working_days(date(2026, 6, 16), 5) == date(2026, 6, 23)
    assert after_working_days(date(2026, 12, 24), 4) == date(2027, 1, 4)


@pytest.mark.parametrize(("year", "working_days"), [(2025, 253), (2026, 253), (2027, 253)])
def test_the_number_of_working_days_in_a_year_is_correct(year: int, working_days: int) -> None:
    days = (date(year, 1, 1) + timedelta(days=n) for n in range(365))
    assert sum(map(is_working_day, days)) == working_days
