"""Messages of validation errors, which name the field: `items[2].quantity: must be at least 1`."""

import re

import msgspec

from tradecounter.kit.errors import FieldError

_PLACE = re.compile(r"^(?P<problem>.*?)(?: - at `(?:key in )?\$(?P<place>.*)`)?$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<field>.*)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<field>.*)`$")
_WRONG_TYPE = re.compile(r"^Expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`$")
_BOUND = re.compile(r"^Expected `(?P<kind>[^`]*)` (?P<sign>>=|<=|>|<) (?P<bound>\S+)$")
_LENGTH = re.compile(r"^Expected `(?P<kind>[^`]*)` of length (?P<sign>>=|<=|==) (?P<bound>\d+)$")
_PATTERN = re.compile(r"^Expected `str` matching regex (?P<pattern>.*)$")
_ENUM = re.compile(r"^Invalid enum value (?P<value>.*)$")

# Messages by a distinctive part of the pattern.
_PATTERN_WORDS = (("@", "must be an e-mail address"), (":[0-5]", "must be a time (HH:MM)"))
_WORDED = {
    "Invalid decimal string": "must be a number",
    "Invalid RFC3339 encoded date": "must be a date (YYYY-MM-DD)",
    "Invalid RFC3339 encoded datetime": "must be a time with an offset, such as 2026-06-01T09:30:00Z",
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
        return f"{match['value']} is not one of {ALLOWED_VALUES}"
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
