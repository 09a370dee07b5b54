"""Valid rows, invalid rows, messages about rows, and checks that the validator cannot make."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import fields

from tradecounter.kit.errors import DomainError, FieldError
from tradecounter.kit.keys import UnusableKeyError, clean_external_id, clean_key, key_form
from tradecounter.kit.numbers import KILOGRAM_PLACES, PENNY_PLACES, too_exact
from tradecounter.kit.text import is_blank, trimmed
from tradecounter.kit.validation_messages import field_error_of, field_errors_of

Shape = TypeVar("Shape", bound=msgspec.Struct)


class Row(Struct, Generic[Shape], frozen=True):
    """A valid row and its first line; in a JSON array, the element's number."""

    line: int
    values: Shape


class BadRow(Struct, Generic[Shape], frozen=True):
    """An invalid row.

    Attributes:
        line: as in Row.
        errors: all errors; `field` is empty if one is about the whole row.
        values: the row with its invalid fields unset, for further checks; None for an unreadable row.
        ends_file: whether what follows cannot be read either, so that not even good rows can be imported.
    """

    line: int
    errors: tuple[FieldError, ...]
    values: Shape | None = None
    ends_file: bool = False


class RowMessage(Struct, frozen=True):
    """An error or a warning; `line` is None if it concerns the whole file.

    Attributes:
        field: its place in the row, such as `components[1].sku`; empty if it concerns the whole row.
        problem: what is wrong with the field.
        record: what names the record of the row, such as `sku CV-320P`; empty if the field does, or nothing does.
    """

    line: int | None
    field: str
    problem: str
    record: str = ""

    @property
    def column(self) -> str:
        """The name of the field, without a place in it."""
        return self.field.partition("[")[0]

    @property
    def message(self) -> str:
        """The whole message, without the line."""
        place = f"{self.field}: " if self.field else ""
        return f"{place}{self.problem} ({self.record})" if self.record else f"{place}{self.problem}"


def bad_row(line: int, members: Mapping[str, Any], shape: type[Shape], unreadable: Mapping[str, str]) -> BadRow[Shape]:
    """Return a row's errors and its valid members.

    `unreadable` maps fields to the reasons why their cells could not be read.
    """
    known = {field.encode_name for field in fields(shape)}
    errors = [FieldError(name, "is not a known field") for name in members if name not in known]
    valid: dict[str, Any] = {}
    for field in fields(shape):
        name = field.encode_name
        if name in unreadable:
            field_errors = [FieldError(name, unreadable[name])]
        elif name in members:
            try:
                valid[field.name] = msgspec.convert(members[name], field.type)
                continue
            except msgspec.ValidationError as error:
                field_errors = list(field_errors_of(members[name], field.type, name)) or [field_error_of(error, name)]
        else:
            field_errors = [FieldError(name, "is required")] if field.required else []
        if field_errors:
            valid[field.name] = UNSET
        errors += field_errors
    return BadRow(line, tuple(errors), shape(**valid))


MOST_POUNDS = Decimal(1_000_000)
EARLIEST, LATEST = date(2000, 1, 1), date(2100, 12, 31)
_LAST_PLACE = [Decimal(1).scaleb(-places) for places in range(KILOGRAM_PLACES + 1)]


class RowNotes:
    """Errors and warnings of a row.

    A value with an error is UNSET; the checks skip it.
    """

    __slots__ = ("errors", "warnings")

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.warnings: list[FieldError] = []

    def error(self, field: str, problem: str) -> None:
        """Add an error, which rejects the row."""
        self.errors.append(FieldError(field, problem))

    def warn(self, field: str, problem: str) -> None:
        """Add a warning about a possible mistake."""
        self.warnings.append(FieldError(field, problem))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add the DomainError that the block raises, if any, as an error."""
        try:
            yield
        except DomainError as error:
            errors = error.field_errors
            self.errors.append(errors[0] if len(errors) == 1 else FieldError("", error.message))


def checked_key(notes: RowNotes, field: str, value: Any) -> Any:
    """Return a key as it is stored, or UNSET and an error; other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return clean_key(value)
    except UnusableKeyError as error:
        notes.error(field, str(error))
        return UNSET


def stored_external_id(notes: RowNotes, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the external id among a row's values as it is stored, or UNSET and an error; nothing without one."""
    if "external_id" not in values:
        return {}
    with notes.collecting():
        return {"external_id": clean_external_id(values["external_id"])}
    return {"external_id": UNSET}


def required_text(notes: RowNotes, field: str, value: Any) -> Any:
    """Return a text without its blank ends, or UNSET and an error if it shows nothing; other values unchanged."""
    if not isinstance(value, str):
        return value
    if is_blank(value):
        notes.error(field, "must not be blank")
        return UNSET
    return trimmed(value)


def folded(value: object) -> str | None:
    """Return a key in the form for comparison, or None if it is not a string."""
    return key_form(value) if isinstance(value, str) else None


def text_of(value: object) -> str | None:
    """Return a value as a string, or None if it is unset."""
    return None if value is UNSET else str(value)


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


def set_members(row: msgspec.Struct) -> dict[str, Any]:
    """Return a row's members as JSON values, without unset members."""
    values: dict[str, Any] = msgspec.to_builtins(row)
    return values
