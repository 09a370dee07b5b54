"""Clocks, and UK local time, which the API uses (specification, section 1); no other module reads the current time."""

import re
from calendar import month_name, monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        return datetime.now(UTC)


class FrozenClock:
    """A clock for tests, whose time changes only by `set` and `advance`."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment.astimezone(UTC)

    def now(self) -> datetime:
        """Return the time that was set, aware, in UTC."""
        return self._moment

    def set(self, moment: datetime) -> None:
        """Set the clock to an aware datetime."""
        self._moment = moment.astimezone(UTC)

    def advance(self, step: timedelta) -> None:
        """Move the clock forward."""
        self._moment += step


UK = ZoneInfo("Europe/London")

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)", re.ASCII)
_LOCAL = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", re.ASCII)


def local_text(moment: datetime) -> str:
    """Return a datetime as LocalDateTime: `yyyy-MM-ddTHH:mm:ss` in UK time without an offset."""
    return moment.astimezone(UK).replace(tzinfo=None).isoformat(timespec="seconds")


def is_second_hour(moment: datetime) -> bool:
    """Return whether a datetime's UK time also occurred an hour earlier, before the clocks went back."""
    return bool(moment.astimezone(UK).fold)


def whole_second(moment: datetime) -> datetime:
    """Return a datetime in UTC without the fraction of its second, as the back office and the logs show times."""
    return moment.astimezone(UTC).replace(microsecond=0)


def whole_minute(moment: datetime) -> datetime:
    """Return when the minute of a datetime begins."""
    return moment.replace(second=0, microsecond=0)


def in_whole_seconds(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return named values, with datetimes as `whole_second` returns them."""
    return {n: whole_second(value) if isinstance(value, datetime) else value for n, value in fields.items()}


def no_such_day(text: str) -> str:
    """Return why no calendar has a day that is written as YYYY-MM-DD: `November 2026 has 30 days`; else an empty text.

    A time may follow the day.
    """
    match = _DAY.match(text)
    year, month, day = map(int, match.groups()) if match else (1, 1, 1)
    if year < 1 or not 1 <= month <= len(month_name) - 1:
        return f"there is no month {month}" if year else "there is no year 0"
    last = monthrange(year, month)[1]
    return "" if 1 <= day <= last else f"{month_name[month]} {year} has {last} days"


def uk_date(moment: datetime) -> date:
    """Return a datetime's UK calendar date."""
    return moment.astimezone(UK).date()


class UkDay(Struct):
    """Returns UK calendar dates, as `uk_date`, and remembers the last day, which most moments share."""

    _day: date = date.min
    _begins: datetime = datetime.max.replace(tzinfo=UTC)
    _ends: datetime = datetime.max.replace(tzinfo=UTC)

    def of(self, moment: datetime) -> date:
        """Return what `uk_date` returns, in a fifteenth of its time for another moment of the same day."""
        if not self._begins <= moment < self._ends:
            self._day = uk_date(moment)
            self._begins, self._ends = day_begins(self._day), day_ends(self._day)
        return self._day


def day_in_words(day: date) -> str:
    """Return a date as mails and papers write it: 1 June 2026."""
    return f"{day.day} {day:%B %Y}"


def day_on_pages(day: date) -> str:
    """Return a date as pages show it: 1 Jun 2026."""
    return f"{day.day} {day:%b %Y}"


def uk_time_of_day(moment: datetime) -> time:
    """Return a datetime's UK wall-clock time."""
    return moment.astimezone(UK).time()


def at_uk_time(day: date, wall_clock: time) -> datetime:
    """Return the UTC datetime of a day and a UK wall-clock time."""
    return datetime.combine(day, wall_clock, tzinfo=UK).astimezone(UTC)


def day_begins(day: date) -> datetime:
    """Return when a UK day begins."""
    return at_uk_time(day, time())


def day_ends(day: date) -> datetime:
    """Return when the day after a UK day begins. Raises OverflowError at the end of the calendar."""
    return day_begins(day + timedelta(days=1))


def moment_of(text: str, *, latest: bool = False) -> datetime:
    """Return the UTC datetime of a LocalDateTime. Raises ValueError for any other string.

    When clocks go back, a local time occurs twice: returns the first occurrence, or with `latest` the second.
    """
    if not _LOCAL.fullmatch(text):
        raise ValueError(f"{text!r} is not a LocalDateTime")
    shown = datetime.fromisoformat(text)
    return at_uk_time(shown.date(), shown.time().replace(fold=int(latest)))
