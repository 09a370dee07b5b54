"""Reads the bodies of requests to the back office, where amounts are numbers in whole pence and never text."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, TypeVar, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from tradecounter.kit.errors import DomainError, FieldError, invalid_fields
from tradecounter.kit.json_text import decode_json, read_json
from tradecounter.kit.number_types import alternatives, number_of
from tradecounter.kit.numbers import UnreadableNumberError
from tradecounter.kit.validation_messages import field_errors_of

Body = TypeVar("Body", bound=Struct)


def read_body(raw: bytes, shape: type[Body]) -> Body:
    """Return JSON as a struct. Raises DomainError (invalid) with all errors, also of amounts."""
    try:
        body = read_json(raw, shape)
    except DomainError as error:
        if not error.field_errors:
            raise
        wrong = {each.field: each for each in (*error.field_errors, *_wrong_amounts(decode_json(raw), shape))}
        raise invalid_fields(list(wrong.values())) from error
    if amounts := list(_wrong_amounts(decode_json(raw), shape)):
        raise invalid_fields(amounts)
    return body


def wrong_fields(body: dict[str, Any], shape: type[Struct]) -> set[str]:
    """Return the names of a body's fields in which `read_body` finds errors."""
    errors = (*field_errors_of(body, shape), *_wrong_amounts(body, shape))
    return {error.field.partition(".")[0].partition("[")[0] for error in errors}


def _wrong_amounts(value: Any, annotation: Any, place: str = "") -> Iterator[FieldError]:
    """Yield the errors of decimals that the decoder does not find: it takes them from strings, with any places."""
    for shape in alternatives(annotation):
        if shape is Decimal and isinstance(value, str):
            yield FieldError(place, "must be a number, not text")
        elif shape is Decimal and isinstance(value, Decimal) and (amount := number_of(annotation)) is not None:
            try:
                amount.check(value)
            except UnreadableNumberError as error:
                yield FieldError(place, str(error))
        elif get_origin(shape) is list and isinstance(value, list):
            for number, item in enumerate(value):
                yield from _wrong_amounts(item, get_args(shape)[0], f"{place}[{number}]")
        elif isinstance(shape, type) and issubclass(shape, Struct) and isinstance(value, dict):
            for field in fields(shape):
                if field.encode_name in value:
                    inner = f"{place}.{field.encode_name}" if place else field.encode_name
                    yield from _wrong_amounts(value[field.encode_name], field.type, inner)
