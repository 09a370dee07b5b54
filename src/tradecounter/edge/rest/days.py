"""Reads UK days, and what they begin and end with, from parameters."""

from datetime import date, datetime, time, timedelta
from typing import Annotated

from msgspec import Meta

from tradecounter.kit.errors import invalid
from tradecounter.kit.local_time import at_uk_time

# The pattern is for the interface document only: `day_of` also rejects days that do not exist, such as 30 February.
Day = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"})]


def day_of(field: str, text: str | None) -> date | None:
    """Return a day as browsers and programs send it. Raises DomainError (invalid)."""
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise invalid(field, f"{text[:40]!r} is not a day, such as 2026-06-01") from error


def start_of(field: str, text: str | None) -> datetime | None:
    """Return when a UK day begins. Raises DomainError (invalid)."""
    day = day_of(field, text)
    return None if day is None else at_uk_time(day, time())


def end_of(field: str, text: str | None) -> datetime | None:
    """Return when the day after a UK day begins. Raises DomainError (invalid)."""
    day = day_of(field, text)
    if day is None:
        return None
    if day == date.max:
        raise invalid(field, "is too late")
    return at_uk_time(day + timedelta(days=1), time())
