"""Naming what a request says and nothing reads, so that a misspelling can be seen (decisions, unknown fields).

The header `X-Ignored` lists unknown query parameters and unknown fields of the body. A field that the response has is
known too: the service sets it and ignores it on input.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, get_args, get_origin
from urllib.parse import quote, unquote_plus

import msgspec
from msgspec import Struct

from tradecounter.rest.annotations import alternatives
from tradecounter.rest.faults import MOST_ELEMENTS
from tradecounter.rest.parameters import MOST_PARTS

HEADER = "X-Ignored"

_MOST_NAMED = 10
_MOST_BYTES = 500  # a proxy may take no more than 4 KB of headers together
_PLAIN = "[]!$&'()*+/:;=?@ "
_CREDENTIAL = "api-key"


@dataclass(slots=True)
class _Known:
    """The members that a JSON object may have; the elements of a list have those of the list."""

    members: "dict[str, _Known]" = field(default_factory=dict)


def unknown_parameters(raw_query: str, shape: type[Struct] | None) -> list[str]:
    """Return the names of a query's parameters that are not fields of a struct, each once, in order.

    Parameters beyond the first thousand are not looked at.
    """
    known = {_CREDENTIAL} if shape is None else {_CREDENTIAL, *_names(shape)}
    parts = raw_query.split("&", MOST_PARTS)[:MOST_PARTS]
    names = (unquote_plus(part.partition("=")[0], errors="replace") for part in parts if part)
    return list(dict.fromkeys(name for name in names if name not in known))


def unknown_fields(body: Any, *shapes: Any) -> Iterator[str]:
    """Yield the places in a decoded JSON object whose names no type has, in order: `items[0].qty`.

    Elements of a list beyond the first thousand are not looked into.
    """
    return _unknown(body, _known(shapes), "") if isinstance(body, dict) else iter(())


def header_value(names: Iterable[str]) -> str:
    """Return the header's value: the first ten names, or as many as fit; unusual characters are percent-encoded."""
    value = ""
    for name in islice(names, _MOST_NAMED):
        longer = f"{value}, {quote(name, safe=_PLAIN)}" if value else quote(name, safe=_PLAIN)
        if len(longer) > _MOST_BYTES:
            return value or longer[:_MOST_BYTES]
        value = longer
    return value


def _unknown(value: Any, known: _Known, place: str) -> Iterator[str]:
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
def _names(shape: type[Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(shape))


@lru_cache
def _known(shapes: tuple[Any, ...]) -> _Known:
    known = _Known()
    for shape in shapes:
        _learn(known, shape)
    return known


def _learn(known: _Known, annotation: Any) -> None:
    for option in alternatives(annotation):
        if get_origin(option) in {list, tuple}:
            _learn(known, get_args(option)[0])
        elif isinstance(option, type) and issubclass(option, Struct):
            for name, inner in _members(option).items():
                _learn_recursively(known, name, inner, option)


def _learn_recursively(known: _Known, name: str, annotation: Any, owner: type[Struct]) -> None:
    """Add a member, and what is inside it, unless that is the type it is a member of."""
    member = known.members.setdefault(name, _Known())
    if owner not in _structs(annotation):
        _learn(member, annotation)


def _structs(annotation: Any) -> set[Any]:
    options = alternatives(annotation)
    inner = [get_args(option)[0] for option in options if get_origin(option) in {list, tuple}]
    return {*options, *(option for part in inner for option in alternatives(part))}


def _members(shape: type[Struct]) -> Mapping[str, Any]:
    return {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
