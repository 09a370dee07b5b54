"""Finds all errors of a row that the decoder rejects."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import fields

from tradecounter.bulk.rows import BadRow, Shape
from tradecounter.kit.errors import FieldError
from tradecounter.kit.field_errors import field_errors_of
from tradecounter.kit.validation_messages import field_error_of

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
