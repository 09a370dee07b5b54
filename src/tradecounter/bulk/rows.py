"""What a file is read into: rows, bad rows, and what the report says of them."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

Shape = TypeVar("Shape", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Row(Generic[Shape]):
    """A well-formed row and the line on which it starts (in a JSON array: the number of the element)."""

    line: int
    values: Shape


@dataclass(frozen=True, slots=True)
class BadRow(Generic[Shape]):
    """A row that is refused, with all its faults.

    Attributes:
        line: the line on which the row starts.
        faults: what is wrong, led by the field where there is one.
        values: the row with its bad fields unset, for the checks that remain; None when it cannot be read at all.
    """

    line: int
    faults: tuple[str, ...]
    values: Shape | None = None


@dataclass(frozen=True, slots=True)
class LineMessage:
    """An error or a warning of the report; `line` is None when it concerns the whole file."""

    line: int | None
    message: str
