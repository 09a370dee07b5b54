"""Reads the day of a line in a bank's file."""

import re
from datetime import date, datetime

from tradecounter.kit.local_time import uk_date

EARLIEST = date(2000, 1, 1)
FORMS = "YYYY-MM-DD, DD/MM/YYYY or DD MMM YYYY"

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_FEWEST_LETTERS = 3  # of a month
_TIME = r"(?:[ T,]+[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>[0-9]{{4}})-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}}){_TIME}")
_DAY_FIRST = re.compile(
    r"(?P<day>[0-9]{1,2})(?P<gap>[/ -])(?P<month>[0-9]{1,2}|[A-Za-z]{3,9})(?P=gap)(?P<year>[0-9]{4}|[0-9]{2})" + _TIME
)
_LONGEST_SHOWN = 40


class UnreadableDayError(ValueError):
    """A text is no day on which money can have been received; the message says why. `day` is what it says, if any."""

    def __init__(self, message: str, day: date | None = None) -> None:
        super().__init__(message)
        self.day = day


def read_day(text: str, today: date) -> date:
    """Return a day from 2000 until `today`, written as banks do; a time behind it is left out.

    A time with a zone counts as UK time. Raises UnreadableDayError.
    """
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    try:
        day = _day(text)
    except (ValueError, OverflowError) as error:
        raise UnreadableDayError(f"the date {shown!r} is not {FORMS}" if shown else "it has no date") from error
    if day < EARLIEST:
        raise UnreadableDayError(f"the date {shown!r} is before {EARLIEST.year}", day)
    if day > today:
        raise UnreadableDayError(f"the date {shown!r} is after today, {today}", day)
    return day


def _day(text: str) -> date:
    if (found := _YEAR_FIRST.fullmatch(text)) is not None:
        if found["zone"] is not None:
            return uk_date(datetime.fromisoformat(text.replace(" ", "T")))
        return date(int(found["year"]), int(found["month"]), int(found["day"]))
    if (found := _DAY_FIRST.fullmatch(text)) is None:
        raise ValueError
    century = "" if len(found["year"]) > len("26") else "20"
    return date(int(century + found["year"]), _month(found["month"]), int(found["day"]))


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    name = "sep" if text.casefold() == "sept" else text.casefold()
    for number, month in enumerate(_MONTHS, start=1):
        if name in {month, month[:_FEWEST_LETTERS]}:
            return number
    raise ValueError
