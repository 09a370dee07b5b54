"""Working days: Monday to Friday but for England's bank holidays (decisions, shipping dates)."""

from datetime import date, timedelta
from functools import cache

import holidays

_SATURDAY = 5


@cache
def _bank_holidays(year: int) -> frozenset[date]:
    return frozenset(holidays.country_holidays("GB", subdiv="ENG", years=year))


def load_calendar() -> None:
    """Load what the first look at the calendar needs, which takes so long that no request should have to wait."""
    _bank_holidays(date.min.year)


def is_working_day(day: date) -> bool:
    """Tell whether the warehouse and the carriers work on a day."""
    return day.weekday() < _SATURDAY and day not in _bank_holidays(day.year)


def next_working_day(day: date) -> date:
    """Return the first working day after a day."""
    day += timedelta(days=1)
    while not is_working_day(day):
        day += timedelta(days=1)
    return day


def after_working_days(day: date, count: int) -> date:
    """Return the day that lies so many working days after a day."""
    for _ in range(count):
        day = next_working_day(day)
    return day
