"""Builds the interface document from a site's operations, and sends it as JSON and YAML."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from starlette.responses import Response

from tradecounter.edge.openapi.core import mark_additions
from tradecounter.edge.openapi.introduction import LICENSE, VERSION, About
from tradecounter.edge.openapi.responses import Responses, media
from tradecounter.edge.openapi.schemas import Schemas, tidy
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import errors_of
from tradecounter.edge.rest.headers import IF_NONE_MATCH
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import (
    ANY_ADDRESS,
    Body,
    Deprecation,
    Endpoint,
    Media,
    Operation,
    Parameter,
    Success,
)
from tradecounter.edge.rest.parameters import Reading, reading_of
from tradecounter.kit.json_text import to_json


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
    for field in msgspec.structs.fields(operation.query) if operation.query else ():
        reading = reading_of(field.type)
        schema = _parameter_schema(field.type, reading)
        parameter = {
            "name": field.encode_name,
            "in": "query",
            "required": field.required,
            "allowEmptyValue": not field.required,  # an empty value counts as absent
            "description": schema.pop("description", ""),
            "schema": schema,
        }
        if examples := schema.pop("examples", None):
            parameter["example"] = examples[0].split(",") if reading.is_list else examples[0]
        if reading.is_list:
            parameter |= {"style": "form", "explode": False}
        yield parameter


def _parameter_schema(annotation: Any, reading: Reading) -> dict[str, Any]:
    """Return the JSON schema of a query parameter, without null: parameters cannot be null."""
    schema = msgspec.json.schema(annotation)
    for alternative in schema.pop("anyOf", []):
        if alternative != {"type": "null"}:
            schema |= alternative
    if reading.is_bool:
        del schema["type"]
        schema["enum"] = sorted(reading.words)
    if "enum" in schema:
        schema |= {"type": "string", "enum": [value for value in schema["enum"] if value is not None]}
    tidy(schema)
    schema.pop("format", None)  # numbers may have any number of digits, also beyond 64 bits
    return schema


YAML = "application/yaml"
_SENT = "An OpenAPI 3.1 document."
_START = Media({}, {"Start": "openapi: 3.1.0\ninfo:\n  title: Tradecounter\n"})


def document_endpoints(build: Callable[[], dict[str, Any]], root: str = "") -> list[Endpoint]:
    """Return the endpoints below `root` that send a site's interface document, as JSON and as YAML.

    `build` returns the document for ANY_ADDRESS. It is called when the document is first requested.
    """
    as_json = cache(lambda: encode_document(build()))
    as_yaml = cache(lambda: _as_yaml(as_json()))

    async def show_json(call: Call) -> Response:
        return Response(_at(call.base_url, as_json()), media_type=JSON)

    async def show_yaml(call: Call) -> Response:
        return Response(_at(call.base_url, as_yaml()), media_type=YAML)

    path = f"{root}/openapi.json"
    in_json = Success(200, _SENT, dict)
    in_yaml = Success(200, _SENT, media_types={YAML: _START})
    same = f"The same document as `{path}`."
    return [
        Endpoint(_sending(path, "JSON", in_json, "This document. Generate clients from it."), show_json),
        Endpoint(_sending(f"{root}/openapi.yaml", "YAML", in_yaml, same), show_yaml),
    ]


def _sending(path: str, form: str, success: Success, description: str) -> Operation:
    return Operation(
        method="GET",
        path=path,
        name=f"getOpenapi{form.capitalize()}",
        tag="Service",
        summary=f"The interface document as {form}",
        description=description,
        success=success,
        public=True,
    )


def encode_document(document: dict[str, Any]) -> bytes:
    """Return the interface document as JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2)


def _as_yaml(document: bytes) -> bytes:
    """Return a JSON document as YAML. It takes some 60 ms, or 300 ms without libyaml."""
    import yaml  # noqa: PLC0415 processes seldom encode it, and start without

    fastest = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # PyYAML has CSafeDumper only if it is built with libyaml
    # Decoding copies every value, so that YAML repeats values instead of referring to them with anchors.
    values = msgspec.json.decode(document)
    return yaml.dump(values, Dumper=fastest, sort_keys=False, allow_unicode=True, width=110).encode()


def _at(base_url: str, document: bytes) -> bytes:
    return document.replace(ANY_ADDRESS.encode(), to_json(base_url)[1:-1])


def build_document(operations: Sequence[Operation], base_url: str, seller: str, about: About) -> dict[str, Any]:
    """Return the interface document of a site's operations at a base URL."""
    schemas = Schemas(operations)
    responses = Responses(schemas, operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(
            operation, schemas, responses, about
        )
    tags = dict.fromkeys(operation.tag for operation in operations)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": about.title,
            "summary": about.summary,
            "version": VERSION,
            "description": about.description,
            "contact": {"name": seller, "url": f"{base_url}{about.reference}"},
            "license": LICENSE,
        },
        **(
            {"externalDocs": {"description": "The guide for API customers", "url": f"{base_url}{about.guide}"}}
            if about.guide
            else {}
        ),
        "servers": [{"url": base_url}],
        "tags": [{"name": tag, "description": about.tags[tag]} for tag in tags],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": responses.shared,
            "headers": responses.headers,
            "securitySchemes": {**about.credentials, **about.client_credentials},
        },
        "security": [{name: []} for name in about.credentials],
    }
    if about.core is not None:
        mark_additions(document, about.core)
    return document


def _operation(operation: Operation, schemas: Schemas, responses: Responses, about: About) -> dict[str, Any]:
    document: dict[str, Any] = {"operationId": operation.name, "tags": [operation.tag], "summary": operation.summary}
    scopes = ", ".join(f"`{scope}`" for scope in (operation.scope, *operation.other_scopes) if scope)
    scope = f"Needs {'one of the scopes' if operation.other_scopes else 'the scope'} {scopes}." if scopes else ""
    key = f"A key with scopes needs {' or '.join(f'`{scope}`' for scope in operation.key_scopes)}."
    parts = (operation.description, scope, key if operation.key_scopes else "")
    if description := "\n\n".join(filter(None, parts)):
        document["description"] = description
    if parameters := parameters_of(operation):
        document["parameters"] = parameters
    if operation.deprecation:
        _deprecate(document, operation.deprecation)
    if operation.body is not None:
        document["requestBody"] = _request_body(operation.body, schemas)
    if operation.upload:
        content = {name: media(each.schema, each.examples) for name, each in operation.upload.items()}
        document["requestBody"] = {"required": True, "content": content}
    document["responses"] = {
        **{
            str(success.status): responses.success(operation, success)
            for success in (operation.dry_run, operation.unchanged, operation.partial, operation.success)
            if success is not None
        },
        **({"304": responses.not_modified(operation)} if operation.cacheable else {}),
        **{str(error.status): responses.error(error) for error in errors_of(operation)},
    }
    if operation.public:
        # An application may send its credentials in the form instead of a header.
        document["security"] = (
            [*({name: []} for name in about.client_credentials), {}] if operation.for_applications else []
        )
    return document


def _deprecate(document: dict[str, Any], deprecation: Deprecation) -> None:
    words = f"Deprecated since {deprecation.since}; ends on {deprecation.sunset}. {deprecation.instead}"
    document["deprecated"] = True
    document["description"] = "\n\n".join(filter(None, (words, document.get("description"))))


def _request_body(body: Body, schemas: Schemas) -> dict[str, Any]:
    described = media(schemas.of(body.type), body.examples)
    for example in described["examples"].values():  # optional in requests
        example["value"] = {name: value for name, value in example["value"].items() if value is not None}
    return {"required": body.required, "content": {body.media_type: described}}
