"""Valid rows, invalid rows, and messages about rows."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

Shape = TypeVar("Shape", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Row(Generic[Shape]):
    """A valid row and its first line; in a JSON array, the element's number."""

    line: int
    values: Shape


@dataclass(frozen=True, slots=True)
class BadRow(Generic[Shape]):
    """An invalid row.

    Attributes:
        line: as in Row.
        errors: all errors; each starts with its field, if it has one.
        values: the row with its invalid fields unset, for further checks; None for an unreadable row.
    """

    line: int
    errors: tuple[str, ...]
    values: Shape | None = None


@dataclass(frozen=True, slots=True)
class LineMessage:
    """An error or a warning; `line` is None if it concerns the whole file."""

    line: int | None
    message: str
