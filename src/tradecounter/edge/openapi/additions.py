"""Marks in an interface document the additions to the core of the customers' API."""

from collections.abc import Collection
from typing import Any

from tradecounter.edge.openapi.core import Core, CoreOperation

ADDITION = "x-addition"
ADDED_STATUSES = "x-added-statuses"
ADDED_HEADERS = "x-added-headers"


def mark_additions(document: dict[str, Any], core: Core) -> None:
    """Mark the additions of a document, in place.

    An operation, parameter, schema or field gets `x-addition: true`. Statuses and headers are often references, which
    cannot be extended: an operation has `x-added-statuses`, and a response `x-added-headers`. What belongs to a marked
    operation or schema has no mark of its own.
    """
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found = core.operations.get(f"{method.upper()} {path}")
            if found is None:
                operation[ADDITION] = True
            else:
                _mark_operation(operation, found, core.general_statuses)
    for response in document["components"]["responses"].values():
        _mark_headers(response, ())
    for name, schema in document["components"]["schemas"].items():
        if name not in core.schemas:
            schema[ADDITION] = True
            continue
        for member_name, member in schema.get("properties", {}).items():
            if member_name not in core.schemas[name]:
                member[ADDITION] = True


def _mark_operation(operation: dict[str, Any], core: CoreOperation, general_statuses: frozenset[str]) -> None:
    for parameter in operation.get("parameters", ()):
        if parameter["name"] not in core.parameters:
            parameter[ADDITION] = True
    statuses = core.statuses if operation.get("security") == [] else core.statuses | general_statuses
    if added := [status for status in operation["responses"] if status not in statuses]:
        operation[ADDED_STATUSES] = added
    for response in operation["responses"].values():
        if "$ref" not in response:
            _mark_headers(response, core.headers)


def _mark_headers(response: dict[str, Any], core: Collection[str]) -> None:
    if added := [name for name in response["headers"] if name not in core]:
        response[ADDED_HEADERS] = added
