"""Reads the bodies of requests to the back office, where amounts are numbers and never text."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, TypeVar, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from tradecounter.kit.errors import DomainError, FieldError, invalid_fields
from tradecounter.rest.annotations import alternatives
from tradecounter.rest.json_text import decode_json, read_json

Body = TypeVar("Body", bound=Struct)


def read_body(raw: bytes, shape: type[Body]) -> Body:
    """Return JSON as a struct. Raises DomainError (invalid) with all errors, also for amounts in quotes."""
    try:
        body = read_json(raw, shape)
    except DomainError as error:
        if not error.field_errors:
            raise
        wrong = {each.field for each in error.field_errors}
        quoted = [each for each in _quoted_amounts(decode_json(raw), shape) if each.field not in wrong]
        raise invalid_fields([*error.field_errors, *quoted]) from error
    if quoted := list(_quoted_amounts(decode_json(raw), shape)):
        raise invalid_fields(quoted)
    return body


def _quoted_amounts(value: Any, annotation: Any, place: str = "") -> Iterator[FieldError]:
    # The decoder takes decimals from strings too, which commands and forms rely on.
    for shape in alternatives(annotation):
        if shape is Decimal and isinstance(value, str):
            yield FieldError(place, "must be a number, not text")
        elif get_origin(shape) is list and isinstance(value, list):
            for number, item in enumerate(value):
                yield from _quoted_amounts(item, get_args(shape)[0], f"{place}[{number}]")
        elif isinstance(shape, type) and issubclass(shape, Struct) and isinstance(value, dict):
            for field in fields(shape):
                if field.encode_name in value:
                    inner = f"{place}.{field.encode_name}" if place else field.encode_name
                    yield from _quoted_amounts(value[field.encode_name], field.type, inner)
