"""Finding every fault of a row: the decoder itself stops at the first one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args, get_origin

import msgspec
from msgspec import UNSET, Raw, Struct
from msgspec.structs import fields

from tradecounter.bulk.rows import BadRow, Shape
from tradecounter.rest.annotations import alternatives
from tradecounter.rest.problems import readable

Read = Callable[[Any, Any], Any]

_NONE: Mapping[str, str] = {}


def read_json(piece: bytes | str | Raw, annotation: Any) -> Any:
    """Return a piece of JSON as a type. Raises msgspec.DecodeError."""
    return msgspec.json.decode(piece, type=annotation)


def read_cells(piece: Any, annotation: Any) -> Any:
    """Return what cells hold as a type; text may stand for a number. Raises msgspec.ValidationError."""
    return msgspec.convert(piece, annotation, strict=False)


def bad_row(
    line: int, members: Mapping[str, Any], shape: type[Shape], read: Read, unreadable: Mapping[str, str] = _NONE
) -> BadRow[Shape]:
    """Return a row that the decoder refuses, with all its faults and with what of it is right.

    `unreadable` holds, by field, why a member could not even be handed to the decoder.
    """
    known = {field.encode_name for field in fields(shape)}
    faults = [f"{name}: is not a known field" for name in members if name not in known]
    right: dict[str, Any] = {}
    for field in fields(shape):
        name = field.encode_name
        found = [f"{name}: is required"] if field.required else []
        if name in unreadable:
            found = [f"{name}: {unreadable[name]}"]
        elif name in members:
            found = list(_faults_of(members[name], field.type, name, read))
        if found:
            right[name] = UNSET
        elif name in members:
            right[name] = read(members[name], field.type)
        faults += found
    return BadRow(line, tuple(faults), shape(**right))


def _faults_of(piece: Any, annotation: Any, place: str, read: Read) -> Iterator[str]:
    try:
        read(piece, annotation)
    except (msgspec.DecodeError, RecursionError) as error:
        inner = list(_inner_faults(piece, annotation, place, read))
        yield from inner or [_placed(error, place)]


def _inner_faults(piece: Any, annotation: Any, place: str, read: Read) -> Iterator[str]:
    """Yield the faults of an object's members or a list's elements, where the piece is one as it should be."""
    for option in alternatives(annotation):
        if get_origin(option) is list and (elements := _taken_apart(piece, list, read)) is not None:
            for number, element in enumerate(elements):
                yield from _faults_of(element, get_args(option)[0], f"{place}[{number}]", read)
        elif isinstance(option, type) and issubclass(option, Struct):
            members = _taken_apart(piece, dict, read)
            for field in fields(option) if members is not None else ():
                where = f"{place}.{field.encode_name}"
                if field.encode_name in members:
                    yield from _faults_of(members[field.encode_name], field.type, where, read)
                elif field.required:
                    yield f"{where}: is required"


def _taken_apart(piece: Any, kind: type, read: Read) -> Any:
    """Return a list's elements or an object's members as pieces, or None when the piece is none."""
    part = Any if read is read_cells else Raw
    try:
        return read(piece, list[part] if kind is list else dict[str, part])  # type: ignore[valid-type]
    except (msgspec.DecodeError, RecursionError):
        return None


def _placed(error: Exception, place: str) -> str:
    if not isinstance(error, msgspec.ValidationError):
        return f"{place}: {error}"
    problem = readable(error)
    whole = problem.removeprefix("the body ")
    if whole != problem:
        return f"{place}: {whole}"
    return f"{place}{'' if problem.startswith('[') else '.'}{problem}"
