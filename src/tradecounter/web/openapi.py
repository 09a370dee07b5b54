"""The interface document (OpenAPI 3.1), from the endpoints' descriptions and the types that validate and encode."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
import yaml

from tradecounter.identity.http import OAuthError
from tradecounter.rest.operation import Operation
from tradecounter.web.index import Documents
from tradecounter.web.openapi_examples import (
    answer_examples,
    body_examples,
    csv_examples,
    oauth_examples,
    otherwise_examples,
)
from tradecounter.web.openapi_links import links_of
from tradecounter.web.openapi_parameters import parameters_of
from tradecounter.web.openapi_responses import (
    ERRORS,
    OAUTH_ERRORS,
    RATE,
    error_responses,
    header_references,
    malformed_head,
    own_refusal,
    used_headers,
)
from tradecounter.web.openapi_schemas import Schemas

VERSION = "1.0"
_BAD_REQUEST = 400

TAGS = {
    "Catalogue": "Products at your prices with live stock, and what they are filtered by.",
    "Orders": "Orders and quotes from price to delivery. An order is created, confirmed, and then followed.",
    "Account": "Your account: details, credit, address book.",
    "Access": "Access tokens for applications that act for a customer.",
    "Service": "The service itself and its documentation.",
}
_DESCRIPTION = """\
The reseller's ordering API: the catalogue at your prices with live stock, and orders from price to confirmation.

Send your API key in the header `X-Api-Key`, or as an application acting for a customer, an access token as
`Authorization: Bearer`. Programs that cannot set headers can send the key as the query parameter `api-key`. A bearer
token takes precedence; then the header, then the query.

Amounts are pounds, net unless they say otherwise; times are UK local time without an offset. `GET /product` and
`GET /order` answer in CSV unless the `Accept` header asks for `application/json`.

Every answer carries `X-Content-Type-Options`, `Referrer-Policy` and `Content-Security-Policy` for browsers, and
`Strict-Transport-Security` where the API is served over https.

Errors hold a `message` that names the field and says what would be right; `errors` lists the fields one by one.
`X-Ignored` names parameters and fields that are not known and were ignored, such as misspelt ones. Quote the
`X-Request-Id` of a response when you ask support.
"""
# The key in the query is accepted too. As a scheme of its own, generated clients would send it with every request.
_CREDENTIALS = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Api-Key",
        "description": "Your API key: 64 characters. Programs that cannot set headers can send it as the query "
        "parameter `api-key`; addresses end up in logs, so prefer the header.",
    },
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An access token from `POST /oauth/token`; it counts alone, whatever else is sent.",
    },
}
_CLIENT_CREDENTIALS = {
    "clientBasic": {
        "type": "http",
        "scheme": "basic",
        "description": "An application's `client_id` and `client_secret`, form-encoded; for `POST /oauth/token` alone.",
    },
}

_LICENSE = {"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}
_CACHING = ("ETag", "Cache-Control", "Vary")


def build_document(operations: Sequence[Operation], base_url: str, seller: str) -> dict[str, Any]:
    """Return the interface document of the operations, served at a base address by a seller of that name."""
    schemas = Schemas(operations)
    names = {operation.name for operation in operations}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas, names)
    responses = error_responses({s for o in operations for s in _errors(o) if s not in o.meanings})
    tags = dict.fromkeys(operation.tag for operation in operations)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tradecounter",
            "summary": "The ordering API of a telecoms-hardware reseller.",
            "version": VERSION,
            "description": _DESCRIPTION,
            "contact": {"name": seller, "url": f"{base_url}/docs"},
            "license": _LICENSE,
        },
        "externalDocs": {"description": "The guide for API customers", "url": f"{base_url}/guide"},
        "servers": [{"url": base_url}],
        "tags": [{"name": tag, "description": TAGS[tag]} for tag in tags],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": responses,
            "headers": used_headers([paths, responses]),
            "securitySchemes": _CREDENTIALS | _CLIENT_CREDENTIALS,
        },
        "security": [{name: []} for name in _CREDENTIALS],
    }


def encode_document(document: dict[str, Any]) -> Documents:
    """Return the document as JSON and as YAML."""
    return Documents(
        msgspec.json.format(msgspec.json.encode(document), indent=2),
        yaml.dump(document, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=110).encode(),
    )


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice: anchors are of no use to readers."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _operation(operation: Operation, schemas: Schemas, known: Collection[str]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
    }
    if operation.description:
        document["description"] = operation.description
    if parameters := parameters_of(operation):
        document["parameters"] = parameters
    if operation.body is not None or operation.form is not None:
        document["requestBody"] = _request_body(operation, schemas)
    document["responses"] = {
        str(operation.answer.status): _answer(operation, schemas, known),
        **{str(status): _otherwise(operation, status, schemas) for status in operation.answer.otherwise},
        **({"304": _not_modified()} if operation.cacheable else {}),
        **{str(status): _refusal(operation, status, schemas) for status in _errors(operation)},
    }
    if operation.public:
        # An application may put its credentials into the form as well: then nothing is asked of the head.
        document["security"] = [*({name: []} for name in _CLIENT_CREDENTIALS), {}] if operation.for_applications else []
    return document


def _errors(operation: Operation) -> list[int]:
    """Return the statuses of an operation's refusals: its own, and those which all of its kind have in common."""
    errors = {400, *operation.errors, 500}  # 400: any request can have a malformed head
    if operation.body is not None:
        errors |= {413, 415}
    if not operation.public:
        errors |= {403, 503}
    if operation.rate_limited:
        errors.add(429)
    return sorted(errors)


def _request_body(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    kind = operation.body or operation.form
    media_type = "application/json" if operation.body else "application/x-www-form-urlencoded"
    media = _media(schemas.of(kind), body_examples(operation))
    return {"required": operation.body_required, "content": {media_type: media}}


def _answer(operation: Operation, schemas: Schemas, known: Collection[str]) -> dict[str, Any]:
    answer = operation.answer
    document: dict[str, Any] = {
        "description": answer.meaning,
        "headers": header_references(_answer_headers(operation)),
    }
    content: dict[str, dict[str, Any]] = {}
    if answer.body is not None:
        content["application/json"] = _media(schemas.of(answer.body), answer_examples(operation))
    if answer.csv:
        content["text/csv"] = _media({"type": "string"}, csv_examples(operation))
    if answer.yaml:
        content["application/yaml"] = {"schema": {"type": "object"}}
    if answer.pdf:
        content["application/pdf"] = {"schema": {"type": "string", "format": "binary"}}
    if content:
        document["content"] = content
    if links := links_of(operation.name, known):
        document["links"] = links
    return document


def _otherwise(operation: Operation, status: int, schemas: Schemas) -> dict[str, Any]:
    otherwise = operation.answer.otherwise[status]
    return {
        "description": otherwise.meaning,
        "headers": header_references((*_answer_headers(operation), "Retry-After")),
        "content": {"application/json": _media(schemas.of(operation.answer.body), otherwise_examples(otherwise))},
    }


def _not_modified() -> dict[str, Any]:
    return {"description": "What you hold is current.", "headers": header_references((*_CACHING, *RATE))}


def _answer_headers(operation: Operation) -> tuple[str, ...]:
    caching = _CACHING if operation.cacheable else ()
    rate = () if operation.public else RATE
    return tuple(dict.fromkeys((*operation.answer.headers, *caching, *rate)))


def _refusal(operation: Operation, status: int, schemas: Schemas) -> dict[str, Any]:
    if operation.for_applications and status in OAUTH_ERRORS:
        return {
            "description": OAUTH_ERRORS[status],
            "headers": header_references(ERRORS[status].headers),
            "content": {"application/json": _media(schemas.of(OAuthError), oauth_examples(status))},
        }
    meaning = operation.meanings.get(status)
    if status == _BAD_REQUEST and status not in operation.errors:
        return malformed_head()
    return (
        {"$ref": f"#/components/responses/{ERRORS[status].name}"} if meaning is None else own_refusal(status, meaning)
    )


def _media(schema: dict[str, Any], examples: dict[str, Any]) -> dict[str, Any]:
    return {"schema": schema, **({"examples": examples} if examples else {})}
