"""Working days: Monday to Friday except England's bank holidays (specification, shipping dates)."""

from datetime import date
from functools import cache

import holidays


@cache
def _england() -> holidays.HolidayBase:
    return holidays.country_holidays("GB", subdiv="ENG")


def load_calendar() -> None:
    """Load the calendar before the first request; loading takes about a second."""
    _england()


def is_working_day(day: date) -> bool:
    """Return whether the warehouse and the carriers work on a day."""
    return _england().is_working_day(day)


def next_working_day(day: date) -> date:
    """Return the first working day after a day."""
    return after_working_days(day, 1)


def after_working_days(day: date, count: int) -> date:
    """Return the day `count` working days after a day; 0 returns the day itself, even on a weekend."""
    return _england().get_nth_working_day(day, count) if count else day
