"""Reads UK days from parameters, and the moments at which they begin and end."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import Annotated

from msgspec import Meta

from tradecounter.kit.clock import day_begins, day_ends, no_such_day
from tradecounter.kit.errors import invalid

# The pattern is for the interface document only: `day_of` also rejects days that do not exist, such as 30 February.
Day = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"})]

# How requests and responses call the ends of a period: `from` is a word of Python.
PERIOD_NAMES = {"since": "from", "until": "to"}


def day_of(field: str, text: str | None) -> date | None:
    """Return a day as browsers and programs send it. Raises DomainError (invalid)."""
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise invalid(field, no_such_day(text) or f"{text[:40]!r} is not a day, such as 2026-06-01") from error


def start_of(field: str, text: str | None) -> datetime | None:
    """Return when a UK day begins. Raises DomainError (invalid)."""
    day = day_of(field, text)
    return None if day is None else day_begins(day)


def end_of(field: str, text: str | None) -> datetime | None:
    """Return when the day after a UK day begins. Raises DomainError (invalid)."""
    day = day_of(field, text)
    return None if day is None else _end(field, day)


def time_or_start_of(field: str, text: str | None) -> datetime | None:
    """Return a time, which is in UTC unless it has an offset, or when a UK day begins. Raises DomainError (invalid)."""
    return None if text is None else _time_or(field, text, day_begins)


def time_or_end_of(field: str, text: str | None) -> datetime | None:
    """Return a time as `time_or_start_of` does, or when the day after a UK day begins. Raises DomainError (invalid)."""
    return None if text is None else _time_or(field, text, partial(_end, field))


def _time_or(field: str, text: str, of_day: Callable[[date], datetime]) -> datetime:
    try:
        return of_day(date.fromisoformat(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))  # a plus sign that was not encoded
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        why = no_such_day(text) or "must be a UK date, or a time in UTC such as 2026-06-01T09:30:00Z"
        raise invalid(field, why) from error


def _end(field: str, day: date) -> datetime:
    try:
        return day_ends(day)
    except OverflowError as error:
        raise invalid(field, "is too late") from error
