"""Describes operations' parameters: path and headers as declared, the query from a struct's fields."""

from collections.abc import Iterable, Iterator
from typing import Any

from tradecounter.edge.openapi.schemas import tidied
from tradecounter.edge.rest.headers import IF_NONE_MATCH
from tradecounter.edge.rest.operation import Operation, Parameter
from tradecounter.edge.rest.parameters import parameter_fields


def parameters_of(operation: Operation) -> list[dict[str, Any]]:
    """Return an operation's parameters in the order path, query, headers."""
    headers = (*operation.request_headers, *((IF_NONE_MATCH,) if operation.cacheable else ()))
    return [*_declared(operation.path_parameters, "path"), *_query_parameters(operation), *_declared(headers, "header")]


def _declared(parameters: Iterable[Parameter], place: str) -> Iterator[dict[str, Any]]:
    for parameter in parameters:
        yield {
            "name": parameter.name,
            "in": place,
            "required": place == "path",
            "description": parameter.description,
            "schema": parameter.schema,
            "example": parameter.example,
        }


def _query_parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    for field in parameter_fields(operation.query) if operation.query else ():
        schema = tidied(dict(field.schema))
        schema.pop("format", None)  # numbers may have any number of digits, also beyond 64 bits
        parameter = {
            "name": field.name,
            "in": "query",
            "required": False,
            "allowEmptyValue": True,  # an empty value counts as absent
            "description": schema.pop("description", ""),
            "schema": schema,
        }
        if examples := schema.pop("examples", None):
            parameter["example"] = examples[0]
        if field.is_list:
            parameter |= {"style": "form", "explode": False}
        yield parameter
