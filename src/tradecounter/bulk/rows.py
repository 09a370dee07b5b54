"""Valid rows, invalid rows, and messages about rows."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import fields

from tradecounter.kit.errors import FieldError
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
        errors: all errors; each starts with its field, if it has one.
        values: the row with its invalid fields unset, for further checks; None for an unreadable row.
        ends_file: whether what follows cannot be read either, so that not even good rows can be imported.
    """

    line: int
    errors: tuple[str, ...]
    values: Shape | None = None
    ends_file: bool = False


class LineMessage(Struct, frozen=True):
    """An error or a warning; `line` is None if it concerns the whole file."""

    line: int | None
    message: str


_NONE: Mapping[str, str] = {}


def bad_row(
    line: int, members: Mapping[str, Any], shape: type[Shape], unreadable: Mapping[str, str] = _NONE
) -> BadRow[Shape]:
    """Return a row's errors and its valid members.

    `unreadable` maps fields to the reasons why their cells could not be read.
    """
    known = {field.encode_name for field in fields(shape)}
    errors = [FieldError(name, "is not a known field") for name in members if name not in known]
    valid: dict[str, Any] = {}
    for field in fields(shape):
        name = field.encode_name
        if name in unreadable:
            found = [FieldError(name, unreadable[name])]
        elif name in members:
            try:
                valid[name] = msgspec.convert(members[name], field.type)
                continue
            except msgspec.ValidationError as error:
                found = list(field_errors_of(members[name], field.type, name)) or [field_error_of(error, name)]
        else:
            found = [FieldError(name, "is required")] if field.required else []
        if found:
            valid[name] = UNSET
        errors += found
    return BadRow(line, tuple(map(str, errors)), shape(**valid))
