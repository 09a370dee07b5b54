"""UK time on the wire, UTC inside."""

import re
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.kit.clock import FrozenClock, SystemClock, UkDay, at_uk_time, local_text, uk_date, uk_time_of_day

moments = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 made aware


@pytest.mark.spec("1 General rules", "times are UK local time, to the second, without an offset")
@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 15, 12, 0, tzinfo=UTC), "2026-01-15T12:00:00"),
        (datetime(2026, 6, 16, 8, 0, tzinfo=UTC), "2026-06-16T09:00:00"),
        (datetime(2026, 6, 16, 23, 30, tzinfo=UTC), "2026-06-17T00:30:00"),
        (datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), "2026-03-29T00:59:59"),
        (datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "2026-03-29T02:00:00"),
        (datetime(2026, 10, 25, 0, 59, tzinfo=UTC), "2026-10-25T01:59:00"),
        (datetime(2026, 10, 25, 1, 0, tzinfo=UTC), "2026-10-25T01:00:00"),
        (datetime(2026, 6, 16, 8, 0, 0, 999_999, tzinfo=UTC), "2026-06-16T09:00:00"),
    ],
)
def test_a_moment_is_written_in_uk_time_without_an_offset(moment: datetime, text: str) -> None:
    assert local_text(moment) == text


@pytest.mark.spec("1 General rules", "times are UK local time, to the second, without an offset")
@settings(max_examples=200, deadline=None, derandomize=True)
@given(moments)
def test_local_text_has_the_specified_form(moment: datetime) -> None:
    text = local_text(moment)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", text)
    ahead = datetime.fromisoformat(text).replace(tzinfo=UTC) - moment.replace(microsecond=0)
    assert ahead in {timedelta(0), timedelta(hours=1)}
    assert text == f"{uk_date(moment)}T{uk_time_of_day(moment).replace(microsecond=0).isoformat()}"


@pytest.mark.sweep
@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(moments, min_size=1, max_size=3),
    st.lists(st.timedeltas(timedelta(hours=-30), timedelta(hours=30)), min_size=1, max_size=20),
)
def test_the_date_of_a_day_is_that_of_each_moment_forwards_and_backwards(
    starts: list[datetime], steps: list[timedelta]
) -> None:
    day = UkDay()
    for start in (*starts, datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)):
        moment = start
        for step in (*steps, timedelta(microseconds=-1), timedelta(microseconds=1)):
            moment += step
            assert day.of(moment) == uk_date(moment)
            midnight = at_uk_time(uk_date(moment), time())
            assert day.of(midnight) == day.of(moment) != day.of(midnight - timedelta(microseconds=1))


@pytest.mark.parametrize(
    ("day", "wall_clock", "moment"),
    [
        (date(2026, 6, 16), time(17, 30), datetime(2026, 6, 16, 16, 30, tzinfo=UTC)),
        (date(2026, 12, 16), time(17, 30), datetime(2026, 12, 16, 17, 30, tzinfo=UTC)),
        (date(2026, 10, 25), time(23, 59, 59), datetime(2026, 10, 25, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_uk_time_is_a_moment_in_utc(day: date, wall_clock: time, moment: datetime) -> None:
    assert at_uk_time(day, wall_clock) == moment
    assert at_uk_time(day, wall_clock).utcoffset() == timedelta(0)


def test_a_frozen_clock_moves_only_when_told() -> None:
    clock = FrozenClock(at_uk_time(date(2026, 6, 16), time(9, 0)))
    assert clock.now() == clock.now() == datetime(2026, 6, 16, 8, 0, tzinfo=UTC)
    clock.advance(timedelta(hours=1))
    assert clock.now() == datetime(2026, 6, 16, 9, 0, tzinfo=UTC)
    clock.set(at_uk_time(date(2026, 6, 17), time(9, 0)))
    assert clock.now() == datetime(2026, 6, 17, 8, 0, tzinfo=UTC)


def test_the_systems_clock_is_aware_and_does_not_go_backwards() -> None:
    first, second = SystemClock().now(), SystemClock().now()
    assert first.utcoffset() == timedelta(0)
    assert first <= second
