"""Generates schemas from the types that decode requests and encode responses."""

from collections.abc import Iterable
from typing import Any

import msgspec

from tradecounter.edge.rest.common_errors import errors_of
from tradecounter.edge.rest.operation import Operation
from tradecounter.edge.rest.responses import Error
from tradecounter.kit.errors import Code

SCHEMAS = "#/components/schemas/"
EMPTY = "EmptyObject"
_SCALARS = {"string", "integer", "number", "boolean"}
_OPEN = {Code.__name__}  # values are added over time: no generated client may reject one that is new
_NULLABLE = 2  # alternatives: a type and null


class Schemas:
    """The schemas of bodies, and the components to which they refer."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        sent = set[Any]()
        received = set[Any]([Error])
        for operation in operations:
            sent |= {operation.body.type} if operation.body else set()
            received |= {success.body for success in (operation.success, operation.unchanged) if success}
            received |= {*(error.body for error in errors_of(operation)), *operation.referenced}
        types = list((sent | received) - {None})
        schemas, components = msgspec.json.schema_components(types, ref_template=SCHEMAS + "{name}")
        self._by_type = dict(zip(types, schemas, strict=True))
        components[EMPTY] = {"description": "`{}`.", "type": "object", "additionalProperties": False}
        self.components = dict(sorted(components.items()))
        in_requests = _reachable([self._by_type[type_] for type_ in sent], self.components)
        for name, schema in self.components.items():
            schema.pop("title", None)
            if name not in in_requests:
                _leave_out_nulls(schema)
                _require_defaults(schema)
            if name in _OPEN:
                schema["x-extensible-enum"] = schema.pop("enum")
                schema["type"] = "string"
            tidy(schema)

    def of(self, type_: Any) -> dict[str, Any]:
        """Return the schema of a body's type; for None, the empty object."""
        return {"$ref": SCHEMAS + EMPTY} if type_ is None else self._by_type[type_]


def tidy(schema: Any) -> None:
    """Bring a schema from msgspec into the document's form, in place.

    Amounts are numbers (`kit/json_text.py`), whole numbers have 64 bits. A type's own `format` stays; an empty one is
    deleted.
    """
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for part in parts:
        tidy(part)
    if not isinstance(schema, dict):
        return
    if schema.get("format") == "decimal":
        schema["type"] = "number"
        del schema["format"]
    if schema.get("type") == "integer":
        schema.setdefault("format", "int64")
    if schema.get("format") == "":
        del schema["format"]
    if schema.get("type") == "object" and not schema.keys() & {"properties", "additionalProperties"}:
        schema["additionalProperties"] = True  # else generators write a type whose members nobody can read
    if "enum" in schema and all(isinstance(value, str) for value in schema["enum"]):
        schema.setdefault("type", "string")
    if "default" in schema and schema["default"] is None:
        del schema["default"]
    _join_null(schema)


def _join_null(schema: dict[str, Any]) -> None:
    """Write a nullable string, number or Boolean as one type, so that generators create no extra type."""
    options = schema.get("anyOf", [])
    kinds = [option.get("type") for option in options]
    if len(kinds) == _NULLABLE and kinds[1] == "null" and kinds[0] in _SCALARS and "enum" not in options[0]:
        del schema["anyOf"]
        schema.update({**options[0], **schema, "type": [kinds[0], "null"]})


def _leave_out_nulls(schema: dict[str, Any]) -> None:
    """Remove null from optional response fields, which are omitted and never null."""
    for name, member in schema.get("properties", {}).items():
        if name in schema.get("required", []) or "anyOf" not in member:
            continue
        options = [option for option in member.pop("anyOf") if option != {"type": "null"}]
        schema["properties"][name] = {**options[0], **member} if len(options) == 1 else {**member, "anyOf": options}


def _require_defaults(schema: dict[str, Any]) -> None:
    """Declare response fields that have a default as required: they are always sent."""
    for name, member in schema.get("properties", {}).items():
        if "default" in member and member.pop("default") is not None:
            schema["required"] = [*schema.get("required", []), name]


def _reachable(schemas: Iterable[Any], components: dict[str, Any]) -> set[str]:
    """Return the names of the components to which schemas refer, directly or indirectly."""
    names: set[str] = set()
    waiting: list[Any] = list(schemas)
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
            name = str(part.get("$ref", "")).removeprefix(SCHEMAS)
            if name and name not in names:
                names.add(name)
                waiting.append(components[name])
        elif isinstance(part, list):
            waiting += part
    return names
