"""Messages of validation errors, which name the field: `items[2].quantity: must be at least 1`."""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from tradecounter.kit.clock import no_such_day
from tradecounter.kit.errors import FieldError
from tradecounter.kit.numbers import UnreadableNumberError, alternatives, is_struct, number_of
from tradecounter.kit.text import shown_name

_PLACE = re.compile(r"^(?P<problem>.*?)(?: - at `(?:key in )?\$(?P<place>.*)`)?$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<field>.*)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<field>.*)`$")
_WRONG_TYPE = re.compile(r"^Expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`$")
_BOUND = re.compile(r"^Expected `(?P<kind>[^`]*)` (?P<sign>>=|<=|>|<) (?P<bound>\S+)$")
_LENGTH = re.compile(r"^Expected `(?P<kind>[^`]*)` of length (?P<sign>>=|<=|==) (?P<bound>\d+)$")
_PATTERN = re.compile(r"^Expected `str` matching regex (?P<pattern>.*)$")
_ENUM = re.compile(r"^Invalid enum value (?P<value>.*)$")

# Messages by a distinctive part of the pattern.
_PATTERN_WORDS = (
    ("@", "must be an e-mail address"),
    (":[0-5]", "must be a time (HH:MM)"),
    ("}T", "must be a UK local time such as 2026-03-02T17:30:00"),
)
_WITH_OFFSET = "must be a time with an offset, such as 2026-06-01T09:30:00Z"
_WORDED = {
    "Invalid decimal string": "must be a number",
    "Invalid RFC3339 encoded date": "must be a date (YYYY-MM-DD)",
    "Invalid RFC3339 encoded datetime": _WITH_OFFSET,
    "Expected `datetime` with a timezone component": _WITH_OFFSET,
}
ALLOWED_VALUES = "the allowed values"  # the decoder does not name them
_SIGNS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_NAMES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "date": "a date (YYYY-MM-DD)",
    "time": "a time (HH:MM)",
}


def field_error_of(error: msgspec.ValidationError, place: str = "") -> FieldError:
    """Return the field error; `place` is the validated value's place in the body, empty for the body itself."""
    found = _PLACE.match(str(error))
    problem, inner = (found["problem"], found["place"] or "") if found else (str(error), "")
    place = (place + inner).removeprefix(".")
    if match := _MISSING.match(problem) or _UNKNOWN.match(problem):
        name = f"{place}.{match['field']}" if place else match["field"]
        return FieldError(name, "is required" if problem.startswith("Object missing") else "is not a known field")
    return FieldError(place, _sentence(problem))


def _sentence(problem: str) -> str:
    if match := _WRONG_TYPE.match(problem):
        return _wrong_type(match["wanted"], match["got"])
    if match := _BOUND.match(problem):
        return f"must be {_SIGNS[match['sign']]} {match['bound']}"
    if match := _LENGTH.match(problem):
        return _length(match["kind"], match["sign"], match["bound"])
    if match := _PATTERN.match(problem):
        return next(
            (words for mark, words in _PATTERN_WORDS if mark in match["pattern"]), f"must match {match['pattern']}"
        )
    if match := _ENUM.match(problem):
        return f"{shown_name(match['value'])} is not one of {ALLOWED_VALUES}"
    return _WORDED.get(problem, problem[:1].lower() + problem[1:])


def _wrong_type(wanted: str, got: str) -> str:
    sentence = f"must be {_kinds(wanted)}"
    if got in {"float", "decimal"} and "int" in wanted:  # a number may be the wrong kind of number
        return sentence
    return f"{sentence}, not {_kinds(got)}"


def _kinds(names: str) -> str:
    return " or ".join(_NAMES.get(name.strip(), name.strip()) for name in names.split("|"))


def _length(kind: str, sign: str, bound: str) -> str:
    if kind == "array":
        return f"must have {_SIGNS.get(sign, 'exactly')} {bound} element{'' if bound == '1' else 's'}"
    if (sign, bound) == (">=", "1"):
        return "must not be empty"
    return f"must have {_SIGNS.get(sign, 'exactly')} {bound} character{'' if bound == '1' else 's'}"


MOST_ELEMENTS = 1_000  # checked in a list; a body can contain half a million


def field_errors_of(value: Any, annotation: Any, place: str = "") -> Iterator[FieldError]:
    """Yield the validation errors of a decoded value, in the order of its type's fields.

    `place` is the value's place in the data. Raw JSON is not checked.
    Only a list's first thousand elements are checked, because the checks block all other requests.
    """
    shape = _plain(annotation)
    if shape is msgspec.Raw:
        return
    if is_struct(shape) and isinstance(value, dict):
        yield from _member_errors(value, shape, place)
    elif get_origin(shape) is list and isinstance(value, list):
        yield from _own_error(value, _with_any_elements(annotation), place)
        [element] = get_args(shape)
        for number, item in enumerate(value[:MOST_ELEMENTS]):
            yield from field_errors_of(item, element, f"{place}[{number}]")
    else:
        yield from _own_error(value, annotation, place)


def decimal_errors(value: Any, annotation: Any, place: str = "") -> Iterator[FieldError]:
    """Yield the errors of decimals that the decoder does not find: it takes them from strings, with any places."""
    for shape in alternatives(annotation):
        if shape is Decimal and isinstance(value, str):
            yield FieldError(place, "must be a number, not text")
        elif shape is Decimal and isinstance(value, int | Decimal) and (number := number_of(annotation)) is not None:
            try:
                number.check(Decimal(value))
            except UnreadableNumberError as error:
                yield FieldError(place, str(error))
        elif get_origin(shape) is list and isinstance(value, list):
            for index, item in enumerate(value):
                yield from decimal_errors(item, get_args(shape)[0], f"{place}[{index}]")
        elif is_struct(shape) and isinstance(value, dict):
            for field in fields(shape):
                if (name := field.encode_name) in value:
                    yield from decimal_errors(value[name], field.type, f"{place}.{name}" if place else name)


def may_hold_decimals(raw: bytes, shape: type[Struct]) -> bool:
    """Return whether JSON of a struct has a member that is a decimal, or an escape that may hide its name."""
    names = _decimal_names(shape)
    return bool(names) and (b"\\" in raw or any(name in raw for name in names))


@cache
def _decimal_names(shape: type[Struct]) -> frozenset[bytes]:
    """Return the names, in quotation marks, of the decimals in a struct, its lists and its structs."""
    return frozenset(f'"{name}"'.encode() for name in _names_of_decimals(shape, ""))


def _names_of_decimals(annotation: Any, name: str) -> Iterator[str]:
    for option in alternatives(annotation):
        if option is Decimal:
            yield name
        elif get_origin(option) is list:
            yield from _names_of_decimals(get_args(option)[0], name)
        elif is_struct(option):
            for field in fields(option):
                yield from _names_of_decimals(field.type, field.encode_name)


def _member_errors(value: dict[str, Any], shape: type[Struct], place: str) -> Iterator[FieldError]:
    prefix = f"{place}." if place else ""
    for field in fields(shape):
        where = prefix + field.encode_name
        if field.encode_name in value:
            yield from field_errors_of(value[field.encode_name], field.type, where)
        elif field.required:
            yield FieldError(where, "is required")


def _own_error(value: Any, annotation: Any, place: str) -> Iterator[FieldError]:
    if errors := list(decimal_errors(value, annotation, place)):
        yield from errors
        return
    try:
        msgspec.convert(value, annotation)
    except msgspec.ValidationError as error:
        yield _with_choices(_of_day(value, field_error_of(error, place)), annotation)


def _of_day(value: Any, error: FieldError) -> FieldError:
    """Return an error about a text that has the form of a date with what is wrong with the day."""
    is_of_day = isinstance(value, str) and error.message in {_WORDED["Invalid RFC3339 encoded date"], _WITH_OFFSET}
    return replace(error, message=(is_of_day and no_such_day(value)) or error.message)


def _with_choices(error: FieldError, annotation: Any) -> FieldError:
    """Return an error with the allowed values, which the decoder does not name."""
    literals = [get_args(option) for option in alternatives(annotation) if get_origin(option) is Literal]
    choices = ", ".join(str(choice) for literal in literals for choice in literal)
    return replace(error, message=error.message.replace(ALLOWED_VALUES, choices)) if choices else error


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
