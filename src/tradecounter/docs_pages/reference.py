"""The API reference as a page, rendered from the interface document."""

import json
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from msgspec import Struct

from tradecounter.docs_pages.fields import Field, FieldReader, Group, name_of, type_of
from tradecounter.docs_pages.samples.languages import LANGUAGES
from tradecounter.docs_pages.samples.plan import plan_of
from tradecounter.edge.openapi.core import ADDED_HEADERS, ADDED_STATUSES, ADDITION
from tradecounter.edge.page_kit.page import Page
from tradecounter.edge.page_kit.templates import page_templates
from tradecounter.edge.rest.operation import EXAMPLE_ADDRESS, Operation, Sample

_PLACES = {"path": "Path parameters", "query": "Query parameters", "header": "Request headers"}
_JSON = "application/json"
_STAFF_PAGES = (("docs", "Reference"), ("openapi.json", "OpenAPI"))  # links at the top of the back office's page


class Example(Struct, frozen=True):
    """A body example; `language` is the highlighter's name for its format."""

    title: str
    text: str
    language: str


class Body(Struct, frozen=True):
    """A request or response body."""

    type: str
    media_types: list[str]
    groups: list[Group]
    examples: list[Example]


class Response(Struct, frozen=True):
    """A response; `shared` means that other operations have the same response."""

    status: int
    description: str
    shared: bool
    headers: list[str]
    body: Body | None

    @property
    def phrase(self) -> str:
        """The status's reason phrase in HTTP."""
        return HTTPStatus(self.status).phrase

    @property
    def failed(self) -> bool:
        """Whether the response is an error."""
        return self.status >= HTTPStatus.BAD_REQUEST


class Section(Struct, frozen=True):
    """An operation's section of the reference."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    added: bool
    public: bool
    for_applications: bool
    parameters: dict[str, list[Field]]
    body: Body | None
    body_required: bool
    responses: list[Response]
    samples: dict[str, tuple[str, str]]

    @property
    def success(self) -> Response:
        """The success response."""
        return self.responses[0]

    @property
    def own(self) -> list[Response]:
        """The responses other than success that only this operation has."""
        return [response for response in self.responses[1:] if not response.shared]

    @property
    def errors(self) -> list[Response]:
        """All error responses, including shared ones."""
        return [response for response in self.responses if response.failed]


def render_reference(
    document: Mapping[str, Any], operations: Iterable[Operation], *, for_staff: bool = False, sandbox: bool
) -> Page:
    """Return the reference page of an interface document, `for_staff` that of the back office."""
    template = page_templates(__package__).get_template("reference.html")
    sections = sections_by_tag(document, operations)
    errors = list(shared_errors(document))
    base_url = document["servers"][0]["url"]
    text = template.render(
        document=document,
        base_url=base_url,
        sections=sections,
        errors=errors,
        shared={error.status for error in errors},
        core=_core_names(document),
        here="docs",
        sandbox=sandbox,
        for_staff=for_staff,
        **({"pages": _STAFF_PAGES} if for_staff else {}),
    )
    return Page.of(text.replace(EXAMPLE_ADDRESS, base_url))


def sections_by_tag(document: Mapping[str, Any], operations: Iterable[Operation]) -> dict[str, list[Section]]:
    """Return the sections of an interface document's operations by tag, in the order of the document."""
    samples = {operation.name: operation.sample for operation in operations}
    sections: dict[str, list[Section]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            sections[operation["tags"][0]].append(_Reader(document, operation, samples).section(method, path))
    return sections


def shared_errors(document: Mapping[str, Any]) -> Iterator[Response]:
    """Yield the errors that several operations share, by status."""
    statuses = {
        name_of(response["$ref"]): int(status)
        for methods in document["paths"].values()
        for operation in methods.values()
        for status, response in operation["responses"].items()
        if "$ref" in response
    }
    for name, status in sorted(statuses.items(), key=lambda item: item[1]):
        response = document["components"]["responses"][name]
        example = response.get("content", {}).get(_JSON, {}).get("example")
        body = Body(type="", media_types=[], groups=[], examples=[Example("", _text_of(example), "json")])
        yield Response(status, response["description"], shared=True, headers=list(response["headers"]), body=body)


def _core_names(document: Mapping[str, Any]) -> set[str]:
    """Return the statuses and headers that some operation's core has."""
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    responses = [
        (status, response)
        for operation in operations
        if ADDITION not in operation
        for status, response in operation["responses"].items()
        if status not in operation.get(ADDED_STATUSES, ())
    ]
    headers = {
        name
        for _, response in responses
        for name in response.get("headers", ())
        if name not in response.get(ADDED_HEADERS, ())
    }
    return headers | {status for status, _ in responses}


class _Reader(Struct, frozen=True):
    """Reads an operation of the interface document."""

    document: Mapping[str, Any]
    operation: Mapping[str, Any]
    samples: Mapping[str, Sample]

    def section(self, method: str, path: str) -> Section:
        operation = self.operation
        name = self.operation["operationId"]
        plan = plan_of(self.document, name, self.samples[name])
        body = operation.get("requestBody")
        return Section(
            name=name,
            method=method.upper(),
            path=path,
            summary=operation["summary"],
            description=operation.get("description", ""),
            added=ADDITION in operation,
            public=operation.get("security") == [],
            for_applications=bool(operation.get("security")),
            parameters=dict(self._parameters()),
            body=None if body is None else self._body(body["content"], f"{name}-body", request=True),
            body_required=body is not None and body.get("required", False),
            responses=[self._response(int(status), given) for status, given in operation["responses"].items()],
            samples={title: (language, write(plan)) for title, (language, write) in LANGUAGES.items()},
        )

    def _parameters(self) -> Iterator[tuple[str, list[Field]]]:
        reader = FieldReader(self.document["components"]["schemas"], request=True)
        for place, title in _PLACES.items():
            parameters = [
                reader.parameter(parameter, f"{self.operation['operationId']}-{place}-{parameter['name']}")
                for parameter in self.operation.get("parameters", ())
                if parameter["in"] == place
            ]
            if parameters:
                yield title, parameters

    def _response(self, status: int, given: Mapping[str, Any]) -> Response:
        shared = "$ref" in given
        response = self.document["components"]["responses"][name_of(given["$ref"])] if shared else given
        content = response.get("content", {})
        anchor = f"{self.operation['operationId']}-{status}"
        body = self._body(content, anchor, request=False) if content and not shared else None
        return Response(
            status=status,
            description=response["description"],
            shared=shared,
            headers=list(response.get("headers", ())),
            body=body,
        )

    def _body(self, content: Mapping[str, Any], anchor: str, *, request: bool) -> Body:
        reader = FieldReader(self.document["components"]["schemas"], request=request)
        media = content.get(_JSON) or next(iter(content.values()))
        first = next((example["value"] for example in media.get("examples", {}).values()), media.get("example"))
        return Body(
            type=type_of(media["schema"], nullable=True),
            media_types=list(content),
            groups=reader.groups(media["schema"], anchor, first),
            examples=list(_examples(content)),
        )


def _examples(content: Mapping[str, Any]) -> Iterator[Example]:
    for media_type, media in content.items():
        language = "json" if media_type == _JSON else "text"
        for example in media.get("examples", {}).values():
            yield Example(example["summary"], _text_of(example["value"]), language)
        if "example" in media:
            yield Example("", _text_of(media["example"]), language)


def _text_of(example: Any) -> str:
    return example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
