"""Reports a request's ignored parts, for example misspelt names (specification, unknown fields).

The header `X-Ignored` lists unknown query parameters and unknown body fields. Response fields count as known: the
service sets them and ignores them on input.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, get_args, get_origin
from urllib.parse import quote, unquote_plus

import msgspec
from msgspec import Struct, field

from tradecounter.edge.rest.parameters import MOST_PARTS, known_names
from tradecounter.kit.number_types import alternatives
from tradecounter.kit.validation_messages import MOST_ELEMENTS

HEADER = "X-Ignored"

_MOST_NAMED = 10
_MOST_BYTES = 500  # a proxy may accept only 4 KB of headers
_PLAIN = "[]!$&'()*+/:;=?@ "
_CREDENTIAL = "api-key"


class _Known(Struct):
    """The known members of a JSON object or of a list's elements."""

    members: "dict[str, _Known]" = field(default_factory=dict)


def unknown_parameters(raw_query: str, shape: type[Struct] | None) -> list[str]:
    """Return the unknown names among a query's first thousand parameters, without duplicates."""
    known = frozenset[str]() if shape is None else known_names(shape)
    parts = raw_query.split("&", MOST_PARTS)[:MOST_PARTS]
    sent = {part.partition("=")[0]: None for part in parts if part}  # most are known as they are, before decoding
    names = (unquote_plus(name, errors="replace") for name in sent if name not in known)
    return list(dict.fromkeys(name for name in names if name not in known and name != _CREDENTIAL))


def unknown_fields(body: Any, *shapes: Any) -> Iterator[str]:
    """Yield the places of unknown fields, such as `items[0].qty`; reads a list's first thousand elements."""
    return _unknown(body, _known(shapes), "") if isinstance(body, dict) else iter(())


def header_value(names: Iterable[str]) -> str:
    """Return the header's value: at most ten names, percent-encoded where necessary."""
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
def _known(shapes: tuple[Any, ...]) -> _Known:
    known = _Known()
    for shape in shapes:
        _add(known, shape)
    return known


def _add(known: _Known, annotation: Any) -> None:
    for option in alternatives(annotation):
        if get_origin(option) in {list, tuple}:
            _add(known, get_args(option)[0])
        elif isinstance(option, type) and issubclass(option, Struct):
            for field_ in msgspec.structs.fields(option):
                member = known.members.setdefault(field_.encode_name, _Known())
                if option not in _structs(field_.type):  # stops at a recursive type
                    _add(member, field_.type)


def _structs(annotation: Any) -> set[Any]:
    options = alternatives(annotation)
    inner = [get_args(option)[0] for option in options if get_origin(option) in {list, tuple}]
    return {*options, *(option for part in inner for option in alternatives(part))}
