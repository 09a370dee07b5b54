"""Finds all faults of a row that the decoder rejects."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import fields

from tradecounter.bulk.rows import BadRow, Shape
from tradecounter.kit.errors import Fault
from tradecounter.rest.faults import faults_of
from tradecounter.rest.validation_messages import fault_of

_NONE: Mapping[str, str] = {}


def bad_row(
    line: int, members: Mapping[str, Any], shape: type[Shape], *, strict: bool, unreadable: Mapping[str, str] = _NONE
) -> BadRow[Shape]:
    """Return a row's faults and its valid members; unless `strict`, numbers may be text.

    `unreadable` has the reasons, by field, why cells could not be read.
    """
    known = {field.encode_name for field in fields(shape)}
    faults = [Fault(name, "is not a known field") for name in members if name not in known]
    valid: dict[str, Any] = {}
    for field in fields(shape):
        name = field.encode_name
        if name in unreadable:
            found = [Fault(name, unreadable[name])]
        elif name in members:
            try:
                valid[name] = msgspec.convert(members[name], field.type, strict=strict)
                continue
            except msgspec.ValidationError as error:
                found = list(faults_of(members[name], field.type, name, strict=strict)) or [fault_of(error, name)]
        else:
            found = [Fault(name, "is required")] if field.required else []
        if found:
            valid[name] = UNSET
        faults += found
    return BadRow(line, tuple(map(str, faults)), shape(**valid))
