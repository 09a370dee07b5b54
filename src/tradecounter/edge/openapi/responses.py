"""Describes responses in the interface document."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tradecounter.edge.openapi.schemas import Schemas
from tradecounter.edge.rest.headers import CACHING, CURSOR, DEPRECATION, LINK, RATE_LIMIT, REQUEST_ID, SUNSET
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import ErrorResponse, Examples, Header, Link, Operation, Schema, Success
from tradecounter.edge.rest.responses import USUAL_CODES, Error
from tradecounter.kit.json_text import to_json


class Responses:
    """Describes responses, and collects the components that several of them share."""

    def __init__(self, schemas: Schemas, operations: Sequence[Operation]) -> None:
        self._schemas = schemas
        self._quota = (
            RATE_LIMIT if any(not operation.public and not operation.scope for operation in operations) else ()
        )
        self._links = [(operation.name, link) for operation in operations for link in operation.links]
        self._shared: dict[int, dict[str, Any]] = {}
        self._headers: dict[str, dict[str, Any]] = {}

    @property
    def shared(self) -> dict[str, Any]:
        """The errors that operations share, by name, in the order of their statuses."""
        return {name: response for _, named in sorted(self._shared.items()) for name, response in named.items()}

    @property
    def headers(self) -> dict[str, Any]:
        """The headers that responses share, by name."""
        return dict(sorted(self._headers.items()))

    def success(self, operation: Operation, success: Success) -> dict[str, Any]:
        """Describe a success response of an operation."""
        headers = (
            *success.headers,
            *(CACHING if operation.cacheable else ()),
            *((DEPRECATION, SUNSET, LINK) if operation.deprecation else ()),
        )
        document: dict[str, Any] = {
            "description": success.description,
            "headers": self._references((*headers, *(() if operation.public else self._quota))),
        }
        content: dict[str, Any] = {}
        if success.body is not None:
            content[JSON] = media(self._schemas.of(success.body), success.examples)
        content |= {name: media(found.schema, found.examples) for name, found in success.media_types.items()}
        if content:
            document["content"] = content
        if links := {name: _link(name, link) for name, link in self._links if link.source == operation.name}:
            document["links"] = links
        return document

    def not_modified(self, operation: Operation) -> dict[str, Any]:
        """Describe an operation's 304 response."""
        deprecation = (DEPRECATION, SUNSET, LINK) if operation.deprecation else ()
        cursor = (CURSOR,) if CURSOR in operation.success.headers else ()
        headers = self._references((*CACHING, *cursor, *deprecation, *self._quota))
        return {"description": "Your copy is current.", "headers": headers}

    def error(self, error: ErrorResponse) -> dict[str, Any]:
        """Describe an error, or return a reference to its shared description."""
        if not error.name:
            return self._error(error)
        self._shared.setdefault(error.status, {})[error.name] = self._error(error)
        return {"$ref": f"#/components/responses/{error.name}"}

    def _error(self, error: ErrorResponse) -> dict[str, Any]:
        example = error.example
        if error.body is None:
            example = {}
        elif error.body is Error:
            example = Error(error.example, error.code or USUAL_CODES[error.status])
        return {
            "description": error.description,
            "headers": self._references((*error.headers, *(self._quota if error.counted else ()))),
            "content": {JSON: {"schema": self._schemas.of(error.body), "example": _value(example)}},
        }

    def _references(self, headers: Iterable[Header]) -> dict[str, Any]:
        references = {}
        for header in (REQUEST_ID, *headers):
            self._headers[header.name] = {
                "description": header.description,
                "required": header.always,
                "schema": header.schema,
                "example": header.example,
            }
            references[header.name] = {"$ref": f"#/components/headers/{header.name}"}
        return references


def media(schema: Schema, examples: Examples) -> dict[str, Any]:
    """Describe a body in one media type."""
    if not examples:
        return {"schema": schema}
    named = {
        summary.replace(" ", "").replace("'", ""): {"summary": summary, "value": _value(example)}
        for summary, example in examples.items()
    }
    return {"schema": schema, "examples": named}


def _value(example: Any) -> Any:
    return msgspec.json.decode(to_json(example))


def _link(name: str, link: Link) -> Mapping[str, Any]:
    return {
        "operationId": name,
        "description": link.description,
        **({"parameters": link.parameters} if link.parameters else {}),
        # Not `requestBody`: several generators take only text there, and reject the whole document.
        **({"x-request-body": link.body} if link.body else {}),
    }
