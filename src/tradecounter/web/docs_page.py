"""`GET /docs`: the API reference as one page, rendered from the interface document; it loads nothing from elsewhere."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jinja2
from markupsafe import Markup, escape
from starlette.responses import Response

from tradecounter.rest.call import Call
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.web.index import ANY_ADDRESS

_CODE = re.compile(r"`([^`]+)`")
_templates = jinja2.Environment(
    loader=jinja2.PackageLoader("tradecounter.web"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _with_code(text: str) -> Markup:
    """Return text with what stands between backticks marked up as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 escaped just before


_templates.filters["with_code"] = _with_code


@dataclass(frozen=True, slots=True)
class DocsEndpoint:
    """The reference page; it is for people, so the interface document does not list it.

    `page` returns it for ANY_ADDRESS.
    """

    page: Callable[[], str]

    @endpoint(
        Operation(
            method="GET",
            path="/docs",
            name="showDocs",
            tag="Service",
            summary="The API reference",
            answer=Answer(200, "A page."),
            public=True,
        )
    )
    async def show_docs(self, call: Call) -> Response:
        """Answer `GET /docs`."""
        page = self.page().replace(ANY_ADDRESS, escape(call.base_url))
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": policy})


def render_docs(document: dict[str, Any], base_url: str) -> str:
    """Return the reference page of an interface document."""
    tags: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tags[operation["tags"][0]].append({**operation, "path": path, "method": method.upper()})
    template = _templates.get_template("docs.html")
    return template.render(
        document=document, tags=tags, base_url=base_url, type_of=_type_of, name_of=_name_of, written=_written
    )


def _written(example: Any) -> str:
    """Return an example as it is read: text as it is, anything else as JSON."""
    return example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)


def _name_of(reference: str) -> str:
    return reference.rpartition("/")[2]


def _type_of(schema: dict[str, Any]) -> list[dict[str, str | None]]:
    """Return a schema in words, as pieces of text with the schema that each names, if any."""
    if "$ref" in schema:
        name = _name_of(schema["$ref"])
        return [{"text": name, "schema": name}]
    if "anyOf" in schema:
        pieces: list[dict[str, str | None]] = []
        for part in schema["anyOf"]:
            pieces += [*([{"text": " or ", "schema": None}] if pieces else []), *_type_of(part)]
        return pieces
    if schema.get("type") == "array":
        return [{"text": "list of ", "schema": None}, *_type_of(schema.get("items", {}))]
    if "enum" in schema:
        return [{"text": ", ".join(str(value) for value in schema["enum"]), "schema": None}]
    kind = schema.get("type", "any")
    return [{"text": " or ".join(kind) if isinstance(kind, list) else str(kind), "schema": None}]
