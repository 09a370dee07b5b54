"""A checker for the part of JSON Schema that the interface document uses; a keyword it does not know is an error."""

import re
from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
Schema = dict[str, Any]

_SILENT = {"description", "examples", "default"}
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_BOUNDS: dict[str, tuple[tuple[type, ...], Callable[[Any, Any], bool]]] = {
    "minimum": ((int, float), lambda value, bound: value >= bound),
    "maximum": ((int, float), lambda value, bound: value <= bound),
    "minLength": ((str,), lambda value, bound: len(value) >= bound),
    "maxLength": ((str,), lambda value, bound: len(value) <= bound),
    "minItems": ((list,), lambda value, bound: len(value) >= bound),
    "maxItems": ((list,), lambda value, bound: len(value) <= bound),
    "maxProperties": ((dict,), lambda value, bound: len(value) <= bound),
    "pattern": ((str,), lambda value, bound: re.search(bound, value) is not None),
    "required": ((dict,), lambda value, bound: set(bound) <= set(value)),
    "enum": ((object,), lambda value, bound: value in bound),
}


def resolve(document: Document, reference: str) -> Any:
    """What a reference within the document points at."""
    assert reference.startswith("#/"), reference
    found: Any = document
    for step in reference.removeprefix("#/").split("/"):
        assert step in found, reference
        found = found[step]
    return found


def problems(value: Any, schema: Schema, document: Document, place: str = "$") -> Iterator[str]:
    """What of a value does not fit a schema."""
    for keyword, wanted in schema.items():
        if keyword == "type":
            if not isinstance(value, _KINDS[wanted]) or (isinstance(value, bool) and wanted != "boolean"):
                yield f"{place}: {value!r} is no {wanted}"
        elif keyword in _BOUNDS:
            kinds, fits = _BOUNDS[keyword]
            if isinstance(value, kinds) and not fits(value, wanted):
                yield f"{place}: {value!r} is beyond {keyword} {wanted!r}"
        elif keyword not in _SILENT:
            yield from _inside(keyword, value, schema, document, place)


def _inside(keyword: str, value: Any, schema: Schema, document: Document, place: str) -> Iterator[str]:
    wanted = schema[keyword]
    match keyword:
        case "$ref":
            yield from problems(value, resolve(document, wanted), document, place)
        case "anyOf":
            if all(any(problems(value, option, document)) for option in wanted):
                yield f"{place}: {value!r} fits none of {wanted}"
        case "items":
            for number, element in enumerate(value if isinstance(value, list) else ()):
                yield from problems(element, wanted, document, f"{place}[{number}]")
        case "properties" | "additionalProperties":
            members = value if isinstance(value, dict) else {}
            known = schema.get("properties", {})
            for name, member in members.items():
                if (name in known) == (keyword == "properties"):
                    yield from problems(member, known.get(name, wanted), document, f"{place}.{name}")
        case _:
            raise AssertionError(f"unknown keyword {keyword}")


def undescribed(value: Any, schema: Schema, document: Document, place: str = "$") -> Iterator[str]:
    """The members of a value that a schema does not name."""
    while "$ref" in schema:
        schema = resolve(document, schema["$ref"])
    for option in schema.get("anyOf", []):
        if not any(problems(value, option, document)):
            yield from undescribed(value, option, document, place)
            return
    if isinstance(value, list):
        for number, element in enumerate(value):
            yield from undescribed(element, schema.get("items", {}), document, f"{place}[{number}]")
    elif isinstance(value, dict) and "properties" in schema:
        for name, member in value.items():
            if name in schema["properties"]:
                yield from undescribed(member, schema["properties"][name], document, f"{place}.{name}")
            else:
                yield f"{place}.{name}"
