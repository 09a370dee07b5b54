"""Checking what rows hold beyond what the validator can: amounts, sizes, dates. Faults are collected, not raised.

What is bad already is UNSET and passed over.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import msgspec

from tradecounter.kit.errors import DomainError
from tradecounter.kit.money import rounded
from tradecounter.kit.text import fold

MOST_POUNDS = Decimal(1_000_000)
EARLIEST, LATEST = date(2000, 1, 1), date(2100, 12, 31)


class RowNotes:
    """What is wrong with a row, and what is remarkable about it."""

    __slots__ = ("faults", "warnings")

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.warnings: list[str] = []

    def fault(self, field: str, problem: str) -> None:
        """Note why the row is refused."""
        self.faults.append(f"{field}: {problem}")

    def warn(self, field: str, problem: str) -> None:
        """Note what may be a mistake."""
        self.warnings.append(f"{field}: {problem}")

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Run a block and note the refusal that ends it, if any."""
        try:
            yield
        except DomainError as error:
            self.faults.append(error.message)


def folded(value: object) -> str | None:
    """Return the form in which a key is compared, or None for a bad one."""
    return fold(value) if isinstance(value, str) else None


def text_of(value: object) -> str | None:
    """Return a value as text, or None for a bad one."""
    return None if value is msgspec.UNSET else str(value)


def joined_key(*parts: str | None) -> str | None:
    """Return one key made of several, or None when one of them is bad."""
    return None if None in parts else "\x1f".join(map(str, parts))


def check_date(notes: RowNotes, field: str, day: object) -> None:
    """Refuse a date that can only be a placeholder."""
    if isinstance(day, date) and not EARLIEST <= day <= LATEST:
        notes.fault(field, f"must be a date from {EARLIEST} to {LATEST}; leave out what is not known")


def measured(notes: RowNotes, field: str, value: Any, most: Decimal, places: int) -> Any:
    """Return a number between 0 and `most`, rounded, as text for the database; what is no number stays as it is."""
    if not isinstance(value, Decimal) or not _bounded(notes, field, value, most):
        return value
    return str(value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP))


def pounds(notes: RowNotes, field: str, value: Any, most: Decimal = MOST_POUNDS) -> Any:
    """Return an amount with two decimal places, as text for the database; what is no number stays as it is."""
    if not isinstance(value, Decimal) or not _bounded(notes, field, value, most):
        return value
    if value != (amount := rounded(value)):
        notes.fault(field, f"{value} has more than two decimal places")
    return str(amount)


def _bounded(notes: RowNotes, field: str, value: Decimal, most: Decimal) -> bool:
    if value.is_finite() and 0 <= value <= most:
        return True
    notes.fault(field, f"must be a number between 0 and {most}")
    return False


def given(row: msgspec.Struct) -> dict[str, Any]:
    """Return the members that a row holds, as JSON has them; what it left out is absent."""
    values: dict[str, Any] = msgspec.to_builtins(row)
    return values
