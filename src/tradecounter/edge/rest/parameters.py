"""Reads query parameters into a struct whose fields are the parameters (specification, section 4).

A field of type `tuple[str, ...]` is a comma-separated list, which is split before percent-decoding. What an encoded
comma (`%2C`) means depends on existing values, so the endpoint decides. Repeated lists are joined. Other parameters may
be sent once. An empty value counts as absent; unknown parameters are ignored.
"""

import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin
from urllib.parse import unquote_plus

import msgspec

from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields
from tradecounter.kit.number_types import alternatives, metas
from tradecounter.kit.validation_messages import field_errors_of

Shape = TypeVar("Shape", bound=msgspec.Struct)
Pair = tuple[str, str]
Flag = Literal["true", "false"]

MOST_PARTS = 1_000  # a query string can contain 30,000, and parsing them blocks all other requests

_WHOLE_NUMBER = re.compile(r"-?[0-9]+")
ANY_SIZE = {"format": ""}  # in the schema of a number that is read exactly, whatever its size
_MOST_DIGITS = 100
_LARGEST = 2**63 - 1  # replaces all other larger numbers, which no column holds
_FLAG = {*get_args(Flag)}
_MOST_QUOTED = 100


def raw_pairs(raw_query: str) -> list[Pair]:
    """Return a query string's parts in order: the decoded name and the value as sent. Raises DomainError (invalid)."""
    if raw_query.count("&") >= MOST_PARTS:
        raise DomainError(Kind.INVALID, f"the query string has more than {MOST_PARTS} parameters")
    parts = (part.partition("=") for part in raw_query.split("&") if part)
    return [(_decoded(name), value) for name, _, value in parts]


def _decoded(text: str) -> str:
    if "%" not in text and "+" not in text:
        return text
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError as error:
        raise DomainError(Kind.INVALID, "the query string is not UTF-8") from error


@lru_cache
def known_names(shape: type[msgspec.Struct]) -> frozenset[str]:
    """Return the names of a struct's parameters, as in the query."""
    return frozenset(_readings(shape))


class _Reading(NamedTuple):
    """How to read a parameter: as a list, a whole number (of any size), one of `words`, or else a string."""

    is_list: bool
    is_number: bool
    has_any_size: bool
    words: tuple[str, ...]


@lru_cache
def _readings(shape: type[msgspec.Struct]) -> dict[str, _Reading]:
    """Return how to read each parameter, by its name in the query."""
    return {f.encode_name: _reading(f.type) for f in msgspec.structs.fields(shape)}


def _reading(annotation: Any) -> _Reading:
    options = alternatives(annotation)
    words = tuple(word for option in options if get_origin(option) is Literal for word in get_args(option))
    is_list = any(get_origin(option) is tuple for option in options)
    has_any_size = any(meta.extra_json_schema == ANY_SIZE for meta in metas(annotation))
    return _Reading(is_list, int in options, has_any_size, words)


def read_parameters(raw_query: str, shape: type[Shape]) -> Shape:
    """Return the parameters of a query string. Raises DomainError (invalid), which names all invalid parameters."""
    readings = _readings(shape)
    values: dict[str, Any] = {}
    errors: dict[str, FieldError] = {}
    for name, raw in raw_pairs(raw_query):
        if name not in readings or not raw:
            continue
        if readings[name].is_list:
            parts = (_decoded(part).strip() for part in raw.split(","))
            values[name] = (*values.get(name, ()), *(part for part in parts if part))
        elif name in values or name in errors:
            errors[name] = FieldError(name, "is given more than once")
        else:
            try:
                values[name] = _value(_decoded(raw), readings[name])
            except _UnreadableError as error:
                errors[name] = FieldError(name, str(error))
    try:
        parameters = msgspec.convert(values, shape)
    except msgspec.ValidationError:
        errors = {error.field: error for error in field_errors_of(values, shape)} | errors
    else:
        if not errors:
            return parameters
    raise invalid_fields(list(errors.values()))


class _UnreadableError(ValueError):
    """A parameter's value does not match its type."""


def _value(text: str, reading: _Reading) -> str | int:
    if reading.is_number:
        if not _WHOLE_NUMBER.fullmatch(text):
            raise _UnreadableError(f"must be a whole number, not {text[:_MOST_QUOTED]!r}")
        digits = text.removeprefix("-").lstrip("0") or "0"
        if len(digits) > _MOST_DIGITS and reading.has_any_size:
            raise _UnreadableError(f"must have at most {_MOST_DIGITS} digits")
        number = int(digits[: _MOST_DIGITS + 1])
        number = number if reading.has_any_size else min(number, _LARGEST)
        return -number if text.startswith("-") else number
    if set(reading.words) == _FLAG:
        text = text.lower()
    if reading.words and text not in reading.words:
        raise _UnreadableError(f"{text[:_MOST_QUOTED]!r} is not one of {', '.join(reading.words)}")
    return text


class ParameterField(msgspec.Struct, frozen=True):
    """A query parameter's description for the interface document."""

    name: str
    is_list: bool
    schema: dict[str, Any]


def parameter_fields(shape: type[msgspec.Struct]) -> list[ParameterField]:
    """Return a struct's parameters with their JSON schemas, without null: parameters cannot be null."""
    fields = []
    for field in msgspec.structs.fields(shape):
        is_list = _reading(field.type).is_list
        schema = msgspec.json.schema(field.type)
        for alternative in schema.pop("anyOf", []):
            if alternative != {"type": "null"}:
                schema |= alternative
        if "enum" in schema:
            schema |= {"type": "string", "enum": [value for value in schema["enum"] if value is not None]}
        if is_list and "examples" in schema:
            schema["examples"] = [example.split(",") for example in schema["examples"]]
        fields.append(ParameterField(field.encode_name, is_list, schema))
    return fields
