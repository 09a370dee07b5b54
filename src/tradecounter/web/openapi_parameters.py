"""The interface document's parameters: those of the path from a table, those of the query from their struct."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tradecounter.rest.operation import Operation
from tradecounter.rest.parameters import parameter_fields
from tradecounter.web.openapi_schemas import tidied

_ID = {"type": "integer", "format": "int64", "minimum": 1}
_TEXT = {"type": "string", "minLength": 1}

# By the parameter's name, or where that means different things, by the operation's and the parameter's. The examples
# are of the demo data's first customer; `tests/contract/test_examples_on_demo.py` tries each.
PATH_PARAMETERS: dict[str, tuple[str, dict[str, Any], str | int]] = {
    "sku": ("The product's SKU, in upper or lower case; any characters, percent-encoded.", _TEXT, "CV-320P"),
    "reference": ("The order reference or the numeric order id.", _TEXT, "PLN-100004"),
    "addConfigurations.reference": ("The order reference or the numeric order id.", _TEXT, "PLN-100007"),
    "confirmOrder.reference": (
        "The `confirmation_code` from the order's or the quote's creation.",
        _TEXT,
        "5417fc98db0f9cf4c67baceff5629b04",
    ),
    "confirmation_code": (
        "The `confirmation_code` from the quote's creation.",
        _TEXT,
        "657cdc3344bb2a3356c0c53b05b216f8",
    ),
    "id": ("The id of the saved address.", _ID, 5003),
    "orderItemId": ("The id of the order's item.", _ID, 700012),
}
REQUEST_HEADERS: dict[str, tuple[str, dict[str, Any], str]] = {
    "Idempotency-Key": (
        "Makes it safe to repeat the request: whatever it creates, it creates once.",
        {**_TEXT, "maxLength": 255, "pattern": "^[ -~]+$"},
        "7f9c2d1e-order-PO-1001",
    ),
    "If-None-Match": (
        "The `ETag` of the answer that you hold: while it is current, 304 comes instead.",
        {"type": "string"},
        '"9b2f1c"',
    ),
}


def parameters_of(operation: Operation) -> list[dict[str, Any]]:
    """Return the parameters of an operation: path, query, headers."""
    return [*_path_parameters(operation), *_query_parameters(operation), *_header_parameters(operation)]


def _path_parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", operation.path):
        own = f"{operation.name}.{name}"
        description, schema, example = PATH_PARAMETERS[own if own in PATH_PARAMETERS else name]
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": description,
            "schema": schema,
            "example": example,
        }


def _query_parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    for field in parameter_fields(operation.query) if operation.query else ():
        schema = tidied(dict(field.schema))
        schema.pop("format", None)  # numbers may have any number of digits, beyond 64 bits too
        parameter = {
            "name": field.name,
            "in": "query",
            "required": False,
            "allowEmptyValue": True,  # an empty value is as if absent
            "description": schema.pop("description", ""),
            "schema": schema,
        }
        if examples := schema.pop("examples", None):
            parameter["example"] = examples[0]
        if field.is_list:
            parameter |= {"style": "form", "explode": False}
        yield parameter


def _header_parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    for name in (*operation.request_headers, *(("If-None-Match",) if operation.cacheable else ())):
        description, schema, example = REQUEST_HEADERS[name]
        yield {
            "name": name,
            "in": "header",
            "required": False,
            "description": description,
            "schema": schema,
            "example": example,
        }
