"""Finds all validation errors of decoded data: the decoder stops at the first."""

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from tradecounter.kit.annotations import alternatives
from tradecounter.kit.errors import FieldError
from tradecounter.kit.validation_messages import ALLOWED_VALUES, field_error_of

MOST_ELEMENTS = 1_000  # checked in a list; a body can contain half a million


def field_errors_of(value: Any, annotation: Any, place: str = "") -> Iterator[FieldError]:
    """Yield the validation errors of a decoded value, in the order of its type's fields.

    `place` is the value's place in the data. Raw JSON is not checked.
    Only a list's first thousand elements are checked, because the checks block all other requests.
    """
    shape = _plain(annotation)
    if shape is msgspec.Raw:
        return
    if isinstance(shape, type) and issubclass(shape, Struct) and isinstance(value, dict):
        yield from _member_errors(value, shape, place)
    elif get_origin(shape) is list and isinstance(value, list):
        yield from _own_error(value, _with_any_elements(annotation), place)
        [element] = get_args(shape)
        for number, item in enumerate(value[:MOST_ELEMENTS]):
            yield from field_errors_of(item, element, f"{place}[{number}]")
    else:
        yield from _own_error(value, annotation, place)


def _member_errors(value: dict[str, Any], shape: type[Struct], place: str) -> Iterator[FieldError]:
    prefix = f"{place}." if place else ""
    for field in fields(shape):
        where = prefix + field.encode_name
        if field.encode_name in value:
            yield from field_errors_of(value[field.encode_name], field.type, where)
        elif field.required:
            yield FieldError(where, "is required")


def _own_error(value: Any, annotation: Any, place: str) -> Iterator[FieldError]:
    try:
        msgspec.convert(value, annotation)
    except msgspec.ValidationError as error:
        yield _with_choices(field_error_of(error, place), annotation)


def _with_choices(error: FieldError, annotation: Any) -> FieldError:
    """Return an error with the allowed values, which the decoder does not name."""
    literals = [get_args(option) for option in alternatives(annotation) if get_origin(option) is Literal]
    choices = ", ".join(str(choice) for literal in literals for choice in literal)
    return FieldError(error.field, error.message.replace(ALLOWED_VALUES, choices)) if choices else error


def _plain(annotation: Any) -> Any:
    """Return an annotation's only type, without null and bounds; None for a union of several."""
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
