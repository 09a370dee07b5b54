"""Describes JSON schemas in words."""

from collections.abc import Mapping
from typing import Any

_ENDLESS = 2**53 - 1  # a technical maximum, which is not shown
_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " elements"),
)


def type_of(schema: Mapping[str, Any], *, nullable: bool) -> str:
    """Return a schema's type in words; includes null if `nullable`."""
    if "$ref" in schema:
        return "object"
    if "anyOf" in schema:
        options = schema["anyOf"] if nullable else without_null(schema).get("anyOf", [without_null(schema)])
        return " or ".join(dict.fromkeys(type_of(option, nullable=nullable) for option in options))
    kind = schema.get("type", "any")
    if kind == "array":
        return "list of " + _plural(type_of(schema.get("items", {}), nullable=nullable))
    if isinstance(kind, list):
        return " or ".join(part for part in kind if nullable or part != "null")
    return "whole number" if kind == "integer" else str(kind)


def bounds_of(schema: Mapping[str, Any]) -> str:
    """Return a schema's allowed range, length or number of elements in words, or an empty string."""
    for option in (schema, *schema.get("anyOf", ())):
        for least, most, unit in _BOUNDS:
            low, high = option.get(least), option.get(most)
            if high is not None and high >= _ENDLESS:
                high = None
            if words := _range(low, high, unit):
                return words
    return ""


def without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without its null alternative."""
    if "anyOf" not in schema:
        return schema
    options = [option for option in schema["anyOf"] if option != {"type": "null"}]
    return options[0] if len(options) == 1 else {**schema, "anyOf": options}


def name_of(reference: str) -> str:
    """Return the component name in a `$ref`."""
    return reference.rpartition("/")[2]


def _range(low: float | None, high: float | None, unit: str) -> str:
    if high is not None and high == low:
        return f"{high}{unit}"
    if high is not None:
        return f"{low} to {high}{unit}" if low is not None else f"at most {high}{unit}"
    if low is None:
        return ""
    return f"at least {low}{unit.removesuffix('s') if low == 1 else unit}"


def _plural(kind: str) -> str:
    return " or ".join(f"{part}s" for part in kind.split(" or "))
