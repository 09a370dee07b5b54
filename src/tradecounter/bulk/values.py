"""Checks amounts, sizes and dates beyond the validator's abilities; collects errors instead of raising them.

A value with an error is UNSET; the checks skip it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec

from tradecounter.kit.errors import DomainError
from tradecounter.kit.external_ids import clean_external_id
from tradecounter.kit.keys import UnusableKeyError, clean_key, key_form
from tradecounter.kit.number_types import KILOGRAM_PLACES
from tradecounter.kit.numbers import PENNY_PLACES, too_exact
from tradecounter.kit.text import is_blank, trimmed

MOST_POUNDS = Decimal(1_000_000)
EARLIEST, LATEST = date(2000, 1, 1), date(2100, 12, 31)
_LAST_PLACE = [Decimal(1).scaleb(-places) for places in range(KILOGRAM_PLACES + 1)]


class RowNotes:
    """Errors and warnings of a row."""

    __slots__ = ("errors", "warnings")

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def error(self, field: str, problem: str) -> None:
        """Add an error, which rejects the row."""
        self.errors.append(f"{field}: {problem}")

    def warn(self, field: str, problem: str) -> None:
        """Add a warning about a possible mistake."""
        self.warnings.append(f"{field}: {problem}")

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add the DomainError that the block raises, if any, as an error."""
        try:
            yield
        except DomainError as error:
            self.errors.append(error.message)


def checked_key(notes: RowNotes, field: str, value: Any) -> Any:
    """Return a key as it is stored, or UNSET and an error; other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return clean_key(value)
    except UnusableKeyError as error:
        notes.error(field, str(error))
        return msgspec.UNSET


def stored_external_id(notes: RowNotes, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the external id among a row's values as it is stored, or UNSET and an error; nothing without one."""
    stored: dict[str, Any] = {name: msgspec.UNSET for name in ("external_id",) if name in values}
    with notes.collecting():
        stored |= {name: clean_external_id(values[name]) for name in stored}
    return stored


def required_text(notes: RowNotes, field: str, value: Any) -> Any:
    """Return a text without its blank ends, or UNSET and an error if it shows nothing; other values unchanged."""
    if not isinstance(value, str):
        return value
    if is_blank(value):
        notes.error(field, "must not be blank")
        return msgspec.UNSET
    return trimmed(value)


def folded(value: object) -> str | None:
    """Return a key in the form for comparison, or None if it is not a string."""
    return key_form(value) if isinstance(value, str) else None


def text_of(value: object) -> str | None:
    """Return a value as a string, or None if it is unset."""
    return None if value is msgspec.UNSET else str(value)


def joined_key(*parts: str | None) -> str | None:
    """Return the keys joined into one, or None if any is None."""
    return None if None in parts else "\x1f".join(map(str, parts))


def check_date(notes: RowNotes, field: str, day: object) -> None:
    """Add an error for a date so early or late that it must be a placeholder."""
    if isinstance(day, date) and not EARLIEST <= day <= LATEST:
        notes.error(field, f"must be a date from {EARLIEST} to {LATEST}, not {day}; leave out an unknown date")


def measured(notes: RowNotes, field: str, value: Any, most: Decimal, places: int) -> Any:
    """Return a number between 0 and `most` with `places` decimal places as a string for the database.

    Other values are returned unchanged.
    """
    if not isinstance(value, Decimal) or not _bounded(notes, field, value, most):
        return value
    rounded = value.quantize(_LAST_PLACE[places])
    if rounded != value:
        notes.error(field, too_exact(str(value), places))
    return str(rounded)


def pounds(notes: RowNotes, field: str, value: Any, most: Decimal = MOST_POUNDS) -> Any:
    """Return an amount as a string for the database; other values unchanged."""
    return measured(notes, field, value, most, PENNY_PLACES)


def _bounded(notes: RowNotes, field: str, value: Decimal, most: Decimal) -> bool:
    if value.is_finite() and 0 <= value <= most:
        return True
    notes.error(field, f"must be a number between 0 and {most}, not {value}")
    return False


def given(row: msgspec.Struct) -> dict[str, Any]:
    """Return a row's members as JSON values, without unset members."""
    values: dict[str, Any] = msgspec.to_builtins(row)
    return values
