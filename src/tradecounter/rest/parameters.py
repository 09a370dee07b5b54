"""Reading query parameters into a struct whose fields are the parameters (specification, section 4).

A field of type `tuple[str, ...]` is a comma-separated list: it is split before percent-decoding, so that `%2C` is a
comma inside a value, and naming it twice makes one longer list. Any other parameter may be named once. An empty
value is as if absent; unknown parameters are ignored.
"""

from functools import lru_cache
from typing import Annotated, Any, TypeVar, get_args, get_origin
from urllib.parse import unquote_plus

import msgspec

from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.rest.problems import readable

Struct = TypeVar("Struct", bound=msgspec.Struct)
Pair = tuple[str, str]

TextList = tuple[str, ...]


def raw_pairs(raw_query: str) -> list[Pair]:
    """Return a query string's parts in order: the decoded name and the value as it was sent."""
    parts = (part.partition("=") for part in raw_query.split("&") if part)
    return [(_decoded(name), value) for name, _, value in parts]


def _decoded(text: str) -> str:
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError as error:
        raise DomainError(Kind.INVALID, "the query string is not UTF-8") from error


@lru_cache
def _list_names(shape: type[msgspec.Struct]) -> dict[str, bool]:
    """Return, per parameter's name on the wire, whether it is a list."""
    return {f.encode_name: _bare(f.type) == TextList for f in msgspec.structs.fields(shape)}


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def read_parameters(raw_query: str, shape: type[Struct]) -> Struct:
    """Return the parameters of a query string. Raises DomainError (invalid) naming the one at fault."""
    is_list = _list_names(shape)
    values: dict[str, Any] = {}
    for name, raw in raw_pairs(raw_query):
        if name not in is_list or not raw:
            continue
        if is_list[name]:
            parts = (_decoded(part).strip() for part in raw.split(","))
            values[name] = (*values.get(name, ()), *(part for part in parts if part))
        elif name in values:
            raise invalid(name, "is given more than once")
        else:
            values[name] = _decoded(raw)
    try:
        return msgspec.convert(values, shape, strict=False)
    except msgspec.ValidationError as error:
        raise DomainError(Kind.INVALID, readable(error)) from error


class ParameterField(msgspec.Struct, frozen=True):
    """A query parameter as the interface document describes it."""

    name: str
    is_list: bool
    schema: dict[str, Any]


def parameter_fields(shape: type[msgspec.Struct]) -> list[ParameterField]:
    """Return the parameters that a struct stands for, with their JSON schemas; absence needs no null there."""
    fields = []
    for field in msgspec.structs.fields(shape):
        is_list = _bare(field.type) == TextList
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
