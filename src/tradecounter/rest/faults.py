"""Finds all faults of decoded data: the decoder itself stops at the first one."""

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from tradecounter.kit.errors import Fault
from tradecounter.rest.annotations import alternatives
from tradecounter.rest.validation_messages import fault_of

MOST_ELEMENTS = 1_000  # that are checked in a list: a body has room for half a million


def faults_of(value: Any, annotation: Any, place: str = "", *, strict: bool = True) -> Iterator[Fault]:
    """Yield the faults of a decoded value of a type, in the order of the type's fields.

    `place` is the value's place in the data; unless `strict`, text may be a number. Raw JSON is not checked, and only
    the first thousand elements of a list are, because all other requests wait meanwhile.
    """
    shape = _plain(annotation)
    if shape is msgspec.Raw:
        return
    if isinstance(shape, type) and issubclass(shape, Struct) and isinstance(value, dict):
        yield from _faults_of_members(value, shape, place, strict=strict)
    elif get_origin(shape) is list and isinstance(value, list):
        yield from _own_fault(value, _with_any_elements(annotation), place, strict=strict)
        [element] = get_args(shape)
        for number, item in enumerate(value[:MOST_ELEMENTS]):
            yield from faults_of(item, element, f"{place}[{number}]", strict=strict)
    else:
        yield from _own_fault(value, annotation, place, strict=strict)


def _faults_of_members(value: dict[str, Any], shape: type[Struct], place: str, *, strict: bool) -> Iterator[Fault]:
    prefix = f"{place}." if place else ""
    for field in fields(shape):
        where = prefix + field.encode_name
        if field.encode_name in value:
            yield from faults_of(value[field.encode_name], field.type, where, strict=strict)
        elif field.required:
            yield Fault(where, "is required")


def _own_fault(value: Any, annotation: Any, place: str, *, strict: bool) -> Iterator[Fault]:
    try:
        msgspec.convert(value, annotation, strict=strict)
    except msgspec.ValidationError as error:
        yield fault_of(error, place)


def _plain(annotation: Any) -> Any:
    """Return the only type of an annotation, without null and bounds; None when there are several."""
    options = [option for option in alternatives(annotation) if option not in {type(None), msgspec.UnsetType}]
    return options[0] if len(options) == 1 else None


def _with_any_elements(annotation: Any) -> Any:
    """Return a list's annotation with its own bounds and any elements."""
    if get_origin(annotation) is Annotated:
        inner, *bounds = get_args(annotation)
        return Annotated[(_with_any_elements(inner), *bounds)]
    if get_origin(annotation) in {Union, UnionType}:
        return Union[tuple(_with_any_elements(option) for option in get_args(annotation))]  # noqa: UP007 built at run time
    return list[Any] if get_origin(annotation) is list else annotation
