"""Reads query parameters and forms, and reports what is ignored (specification, section 4).

A field of type `tuple[str, ...]` is a comma-separated list, which is split before percent-decoding. What an encoded
comma (`%2C`) means depends on existing values, so the endpoint decides. Repeated lists are joined. Other parameters may
be sent once. An empty value counts as absent; unknown parameters are ignored. A field without a default is required.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin
from urllib.parse import quote, unquote_plus

import msgspec
from msgspec import Struct, field

from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields
from tradecounter.kit.numbers import alternatives, is_struct, metas
from tradecounter.kit.validation_messages import MOST_ELEMENTS, field_errors_of

FORM_MEDIA_TYPE = "application/x-www-form-urlencoded"

_ESCAPE = re.compile(rb"%([0-9a-fA-F]{2})?")


def read_form(raw: bytes) -> dict[str, str]:
    """Return a form's fields; a field without a value counts as absent.

    Raises DomainError (invalid) for a repeated field, a broken escape, a NUL, or bytes that are not UTF-8.
    """
    fields: dict[str, str] = {}
    for part in raw.split(b"&"):
        if not part:
            continue
        name, _, value = part.partition(b"=")
        field = form_decoded(name)
        if field in fields:
            raise DomainError(Kind.INVALID, f"{field[:100]}: is given more than once")
        fields[field] = form_decoded(value)
    return {name: value for name, value in fields.items() if value}


def form_decoded(raw: bytes) -> str:
    """Return a form's name or value, decoded. Raises DomainError (invalid)."""
    try:
        text = _ESCAPE.sub(_form_text, raw.replace(b"+", b" ")).decode()
    except ValueError as error:
        raise DomainError(Kind.INVALID, "the form is not UTF-8, or contains a broken % escape") from error
    if "\x00" in text:
        raise DomainError(Kind.INVALID, "the form contains a NUL character: leave it out")
    return text


def _form_text(escape: re.Match[bytes]) -> bytes:
    if escape[1] is None:
        raise ValueError("a % without two hexadecimal digits")
    return bytes([int(escape[1], 16)])


Shape = TypeVar("Shape", bound=msgspec.Struct)
Pair = tuple[str, str]
Flag = Literal["true", "false"]  # where the text is passed on; otherwise, a `bool` is read from it

MOST_PARTS = 1_000  # a query string can contain 30,000, and parsing them blocks all other requests

_WHOLE_NUMBER = re.compile(r"-?[0-9]+")
ANY_SIZE = {"format": ""}  # in the schema of a number that is read exactly, whatever its size
_MOST_DIGITS = 100
_LARGEST = 2**63 - 1  # replaces all other larger numbers, which no column holds
_FLAG = {*get_args(Flag)}
_MOST_QUOTED = 100
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


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


class Reading(NamedTuple):
    """How to read a parameter: as a list, a whole number (of any size), a bool, one of `words`, or else a string."""

    is_list: bool
    is_number: bool
    is_bool: bool
    has_any_size: bool
    words: tuple[str, ...]


@lru_cache
def _readings(shape: type[msgspec.Struct]) -> dict[str, Reading]:
    """Return how to read each parameter, by its name in the query."""
    return {f.encode_name: reading_of(f.type) for f in msgspec.structs.fields(shape)}


def reading_of(annotation: Any) -> Reading:
    """Return how to read a parameter of a type."""
    options = alternatives(annotation)
    is_bool = bool in options
    worded = (Flag,) if is_bool else options
    words = tuple(word for option in worded if get_origin(option) is Literal for word in get_args(option))
    is_list = any(get_origin(option) is tuple for option in options)
    has_any_size = any(meta.extra_json_schema == ANY_SIZE for meta in metas(annotation))
    return Reading(is_list, int in options, is_bool, has_any_size, words)


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
        errors |= {error.field: error for error in _backward_periods(values)}
        if not errors:
            return parameters
    raise invalid_fields(list(errors.values()))


def _backward_periods(values: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of periods such as `issued_from` and `issued_to` whose first day is after their last one."""
    for name in values:
        if name.endswith("from") and f"{name.removesuffix('from')}to" in values:
            first, last = values[name], values[f"{name.removesuffix('from')}to"]
            if _DAY.fullmatch(first) and _DAY.fullmatch(last) and first > last:
                yield FieldError(name, f"must not be after {last}")


class _UnreadableError(ValueError):
    """A parameter's value does not match its type."""


def _value(text: str, reading: Reading) -> str | int | bool:
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
    return text == "true" if reading.is_bool else text


IGNORED_HEADER = "X-Ignored"

_MOST_NAMED = 10
_MOST_BYTES = 500  # a proxy may accept only 4 KB of headers
_PLAIN = "[]!$&'()*+/:;=?@ "
_CREDENTIAL = "api-key"


class _KnownMembers(Struct):
    """The known members of a JSON object or of a list's elements."""

    members: "dict[str, _KnownMembers]" = field(default_factory=dict)


def unknown_parameters(raw_query: str, shape: type[Struct] | None) -> list[str]:
    """Return the unknown names among a query's first thousand parameters, without duplicates."""
    known = frozenset[str]() if shape is None else known_names(shape)
    parts = raw_query.split("&", MOST_PARTS)[:MOST_PARTS]
    sent = {part.partition("=")[0]: None for part in parts if part}  # most are known as they are, before decoding
    names = (unquote_plus(name, errors="replace") for name in sent if name not in known)
    return list(dict.fromkeys(name for name in names if name not in known and name != _CREDENTIAL))


def unknown_fields(body: Any, *shapes: Any) -> Iterator[str]:
    """Yield the places of unknown fields, such as `items[0].qty`; reads a list's first thousand elements."""
    return _unknown(body, _known_members(shapes), "") if isinstance(body, dict) else iter(())


def header_value(names: Iterable[str]) -> str:
    """Return the value of `X-Ignored`: at most ten names, percent-encoded where necessary.

    `X-Ignored` lists unknown query parameters and unknown body fields. Response fields count as known: the service sets
    them and ignores them on input.
    """
    value = ""
    for name in islice(names, _MOST_NAMED):
        longer = f"{value}, {quote(name, safe=_PLAIN)}" if value else quote(name, safe=_PLAIN)
        if len(longer) > _MOST_BYTES:
            return value or longer[:_MOST_BYTES]
        value = longer
    return value


def _unknown(value: Any, known: _KnownMembers, place: str) -> Iterator[str]:
    if isinstance(value, list):
        for number, item in enumerate(value[:MOST_ELEMENTS]):
            yield from _unknown(item, known, f"{place}[{number}]")
    elif isinstance(value, dict) and known.members:
        for name, inner in value.items():
            where = f"{place}.{name}" if place else name
            if name in known.members:
                yield from _unknown(inner, known.members[name], where)
            else:
                yield where


@lru_cache
def _known_members(shapes: tuple[Any, ...]) -> _KnownMembers:
    known = _KnownMembers()
    for shape in shapes:
        _add(known, shape)
    return known


def _add(known: _KnownMembers, annotation: Any) -> None:
    for option in alternatives(annotation):
        if get_origin(option) in {list, tuple}:
            _add(known, get_args(option)[0])
        elif is_struct(option):
            for field_ in msgspec.structs.fields(option):
                member = known.members.setdefault(field_.encode_name, _KnownMembers())
                if option not in _structs(field_.type):  # stops at a recursive type
                    _add(member, field_.type)


def _structs(annotation: Any) -> set[Any]:
    options = alternatives(annotation)
    inner = [get_args(option)[0] for option in options if get_origin(option) in {list, tuple}]
    return {*options, *(option for part in inner for option in alternatives(part))}
