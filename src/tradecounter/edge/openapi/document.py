"""Builds the interface document from a site's operations, and encodes it as JSON and YAML."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from tradecounter.edge.openapi.additions import mark_additions
from tradecounter.edge.openapi.introduction import LICENSE, VERSION, About
from tradecounter.edge.openapi.responses import Responses, media
from tradecounter.edge.openapi.schemas import Schemas, tidied
from tradecounter.edge.rest.common_errors import errors_of
from tradecounter.edge.rest.headers import IF_NONE_MATCH
from tradecounter.edge.rest.operation import ANY_ADDRESS, Body, Deprecation, Media, Operation, Parameter, Success
from tradecounter.edge.rest.parameters import parameter_fields
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
    for field in parameter_fields(operation.query) if operation.query else ():
        schema = tidied(dict(field.schema))
        schema.pop("format", None)  # numbers may have any number of digits, also beyond 64 bits
        parameter = {
            "name": field.name,
            "in": "query",
            "required": field.is_required,
            "allowEmptyValue": not field.is_required,  # an empty value counts as absent
            "description": schema.pop("description", ""),
            "schema": schema,
        }
        if examples := schema.pop("examples", None):
            parameter["example"] = examples[0]
        if field.is_list:
            parameter |= {"style": "form", "explode": False}
        yield parameter


YAML = "application/yaml"


class Documents(Struct, frozen=True, dict=True):
    """The interface document with ANY_ADDRESS as its base URL, as JSON; as YAML when it is first requested."""

    json: bytes

    @cached_property
    def yaml(self) -> bytes:
        """The document as YAML."""
        import yaml  # noqa: PLC0415 processes seldom encode it, and start without

        fastest = getattr(
            yaml, "CSafeDumper", yaml.SafeDumper
        )  # PyYAML has CSafeDumper only if it is built with libyaml
        # Decoding copies every value, so that YAML repeats values instead of referring to them with anchors.
        values = msgspec.json.decode(self.json)
        return yaml.dump(values, Dumper=fastest, sort_keys=False, allow_unicode=True, width=110).encode()

    def json_at(self, base_url: str) -> bytes:
        """Return the document as JSON with a base URL."""
        return _at(base_url, self.json)

    def yaml_at(self, base_url: str) -> bytes:
        """Return the document as YAML with a base URL. The first call takes some 60 ms, or 300 ms without libyaml."""
        return _at(base_url, self.yaml)


def _at(base_url: str, document: bytes) -> bytes:
    return document.replace(ANY_ADDRESS.encode(), to_json(base_url)[1:-1])


def json_operation(path: str, description: str = "") -> Operation:
    """Return the operation that sends the interface document of its site as JSON."""
    return _sending(path, "JSON", Success(200, _SENT, dict), description)


def yaml_operation(path: str, description: str = "") -> Operation:
    """Return the operation that sends the interface document of its site as YAML."""
    start = Media({}, {"Start": "openapi: 3.1.0\ninfo:\n  title: Tradecounter\n"})
    return _sending(path, "YAML", Success(200, _SENT, media_types={YAML: start}), description)


_SENT = "An OpenAPI 3.1 document."


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


def encode_document(document: dict[str, Any]) -> Documents:
    """Return the interface document, ready to be sent as JSON and YAML."""
    return Documents(msgspec.json.format(msgspec.json.encode(document), indent=2))


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
