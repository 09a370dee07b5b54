"""Rows, bad rows, and messages about them."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

Shape = TypeVar("Shape", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Row(Generic[Shape]):
    """A valid row and the line on which it starts; in a JSON array, the number of its element."""

    line: int
    values: Shape


@dataclass(frozen=True, slots=True)
class BadRow(Generic[Shape]):
    """An invalid row.

    Attributes:
        line: as in Row.
        faults: all faults; each starts with the field if it has one.
        values: the row with its bad fields unset, for further checks; None if it cannot be read at all.
    """

    line: int
    faults: tuple[str, ...]
    values: Shape | None = None


@dataclass(frozen=True, slots=True)
class LineMessage:
    """An error or a warning; `line` is None if it concerns the whole file."""

    line: int | None
    message: str
