"""The interface document (OpenAPI 3.1), from the endpoints' descriptions and the types that validate and encode."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import yaml

from tradecounter.catalogue.wire import Product
from tradecounter.customers.wire import AddressDetails
from tradecounter.ordering.wire import SavedAddress
from tradecounter.rest.answers import Error
from tradecounter.rest.form import MEDIA_TYPE as FORM
from tradecounter.rest.operation import Operation
from tradecounter.rest.parameters import parameter_fields
from tradecounter.web.index import Documents

VERSION = "1.0"
_REFERENCE = "#/components/schemas/{name}"

ERRORS = {
    400: ("BadRequest", "The request's data is wrong; the message names the field."),
    401: ("Unauthorized", "The credential is missing or not valid."),
    402: ("PaymentRequired", "The account has no credit terms, or not enough available credit."),
    403: ("Blocked", "Too many invalid credentials came from your address; it is blocked for five minutes."),
    404: ("NotFound", "Unknown, or not yours."),
    409: ("Conflict", "It would duplicate what is there, or a request with the same key is still being processed."),
    410: ("Gone", "The pending order has expired."),
    412: (
        "PreconditionFailed",
        "Something has to come first: a shipping method, the price of a quote, the invoice.",
    ),
    413: ("TooLarge", "The body is too long."),
    415: ("UnsupportedMediaType", "The body is not JSON."),
    429: ("TooManyRequests", "Over the rate limit; wait five minutes."),
    500: ("InternalError", "An unexpected error; the message holds the request id."),
    503: ("Unavailable", "Temporarily unavailable; try again."),
}
HEADERS = {
    "X-Total-Count": ("integer", "Results after filtering."),
    "X-Page": ("integer", "This page, from 1."),
    "X-Limit": ("integer", "Results on a page; 0: not paginated."),
    "X-Total-Pages": ("integer", "Pages at this limit."),
    "Link": ("string", "Web links (RFC 8288)."),
    "Idempotent-Replay": ("boolean", "`true`: this is the response to an earlier request with the same key."),
    "ETag": ("string", "Stands for this answer; send it as `If-None-Match` next time."),
    "Cache-Control": ("string", "Whether the answer may be kept; kept ones have to be asked about again."),
    "Vary": ("string", "The request headers that the answer depends on."),
}
CACHING = ("ETag", "Cache-Control", "Vary")
REQUEST_HEADERS = {
    "Idempotency-Key": {
        "description": "Makes it safe to repeat the request: whatever it creates, it creates once.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    },
    "If-None-Match": {
        "description": "The `ETag` of the answer that you hold: while it is current, 304 comes instead.",
        "schema": {"type": "string"},
    },
}
_DESCRIPTION = """\
The reseller's ordering API: the catalogue at your prices with live stock, and orders from price to confirmation.

Send your API key in the header `X-Api-Key`; applications that act for a customer send an access token.
Amounts are pounds; times are UK local time without an offset.
"""


def build_document(operations: Sequence[Operation], base_url: str) -> dict[str, Any]:
    """Return the interface document of the operations, served at a base address."""
    schemas, components = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tradecounter", "version": VERSION, "description": _DESCRIPTION},
        "servers": [{"url": base_url}],
        "tags": [{"name": tag} for tag in dict.fromkeys(o.tag for o in operations)],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {name: _error(status, meaning) for status, (name, meaning) in ERRORS.items()},
            "headers": {
                name: {"description": meaning, "schema": {"type": kind}} for name, (kind, meaning) in HEADERS.items()
            },
            "securitySchemes": {
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
                "apiKeyInQuery": {"type": "apiKey", "in": "query", "name": "api-key"},
                "bearer": {"type": "http", "scheme": "bearer", "description": "A token of `POST /oauth/token`."},
            },
        },
        "security": [{"apiKey": []}, {"apiKeyInQuery": []}, {"bearer": []}],
    }


def encode_document(document: dict[str, Any]) -> Documents:
    """Return the document as JSON and as YAML."""
    return Documents(
        msgspec.json.format(msgspec.json.encode(document), indent=2),
        yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110).encode(),
    )


def _schemas(operations: Iterable[Operation]) -> tuple[dict[int, Any], dict[str, Any]]:
    """Return the schema of every type in use, by the type's identity, and the components they refer to."""
    types: list[Any] = [Error, Product, AddressDetails, SavedAddress]
    for operation in operations:
        used = (operation.body, operation.form, operation.answer.body, operation.refusal)
        types += [t for t in used if t is not None]
    found, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    for schema in components.values():
        schema.pop("title", None)
        _state_amounts(schema)
    return {id(t): schema for t, schema in zip(types, found, strict=True)}, components


def _state_amounts(schema: Any) -> None:
    """Say of decimals what they are on the wire: numbers (`rest/answers.py`)."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for part in parts:
        _state_amounts(part)
    if isinstance(schema, dict) and schema.get("format") == "decimal":
        schema["type"] = "number"
        del schema["format"]


def _operation(operation: Operation, schemas: dict[int, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
    }
    if operation.description:
        document["description"] = operation.description
    if parameters := [*_path_parameters(operation.path), *_query_parameters(operation), *_header_parameters(operation)]:
        document["parameters"] = parameters
    if operation.body is not None:
        content = {"application/json": {"schema": schemas[id(operation.body)]}}
        document["requestBody"] = {"required": operation.body_required, "content": content}
    if operation.form is not None:
        document["requestBody"] = {"required": True, "content": {FORM: {"schema": schemas[id(operation.form)]}}}
    statuses = [
        *operation.errors,
        *((413, 415) if operation.body else ()),
        500,
        *([] if operation.public else [403, 503]),
        *([429] if operation.rate_limited else []),
    ]
    not_modified = {"304": {"description": "What you hold is current.", "headers": _headers(CACHING)}}
    document["responses"] = {
        str(operation.answer.status): _answer(operation, schemas),
        **(not_modified if operation.cacheable else {}),
        **{str(s): {"$ref": f"#/components/responses/{ERRORS[s][0]}"} for s in sorted(statuses)},
    }
    if operation.refusal is not None:
        content = {"application/json": {"schema": schemas[id(operation.refusal)]}}
        for status in (400, 401):
            document["responses"][str(status)] = {"description": ERRORS[status][1], "content": content}
    if operation.public:
        document["security"] = []
    return document


def _path_parameters(path: str) -> Iterable[dict[str, Any]]:
    for part in path.split("/"):
        if part.startswith("{"):
            name = part.strip("{}")
            kind = "integer" if name in {"id", "orderItemId"} else "string"
            yield {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _query_parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    if operation.query is None:
        return
    for field in parameter_fields(operation.query):
        schema = dict(field.schema)
        description = schema.pop("description", "")
        parameter = {"name": field.name, "in": "query", "description": description, "schema": schema}
        if field.is_list:
            parameter |= {"style": "form", "explode": False}
        yield parameter


def _header_parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    for name in (*operation.request_headers, *(("If-None-Match",) if operation.cacheable else ())):
        yield {"name": name, "in": "header", **REQUEST_HEADERS[name]}


def _answer(operation: Operation, schemas: dict[int, Any]) -> dict[str, Any]:
    answer = operation.answer
    document: dict[str, Any] = {"description": answer.meaning}
    content: dict[str, Any] = {}
    if answer.body is not None:
        content["application/json"] = {"schema": schemas[id(answer.body)]}
    if answer.csv:
        content["text/csv"] = {"schema": {"type": "string"}}
    if answer.yaml:
        content["application/yaml"] = {"schema": {"type": "object"}}
    if answer.pdf:
        content["application/pdf"] = {"schema": {"type": "string", "format": "binary"}}
    if content:
        document["content"] = content
    if names := (*answer.headers, *(CACHING if operation.cacheable else ())):
        document["headers"] = _headers(names)
    return document


def _headers(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _error(status: int, meaning: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"$ref": "#/components/schemas/Error"}
    if status == 401:  # noqa: PLR2004 its body is the empty object
        schema = {"type": "object", "maxProperties": 0}
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}
