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
from tradecounter.web.security_headers import NO_FRAMES

_CODE = re.compile(r"`([^`]+)`")
_ENDLESS = 10**15  # a maximum that only keeps numbers within 64 bits
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
        policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; {NO_FRAMES}"
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": policy})


def render_docs(document: dict[str, Any], base_url: str) -> str:
    """Return the reference page of an interface document."""
    tags: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tags[operation["tags"][0]].append({**operation, "path": path, "method": method.upper()})
    template = _templates.get_template("docs.html")
    return template.render(
        document=document,
        tags=tags,
        base_url=base_url,
        type_of=_type_of,
        bounds_of=_bounds_of,
        name_of=_name_of,
        written=_written,
        as_form=_as_form,
        media_types_of=_media_types_of,
    )


def _written(example: Any) -> str:
    """Return an example as it is read: text as it is, anything else as JSON."""
    return example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)


def _as_form(example: dict[str, Any]) -> str:
    """Return an example as the fields of a form, one a line."""
    return "\n&".join(f"{name}={value}" for name, value in example.items())


def _media_types_of(operation: dict[str, Any]) -> list[str]:
    """Return the media types of an operation's successful answer."""
    return list(next(iter(operation["responses"].values())).get("content", {}))


def _bounds_of(schema: dict[str, Any]) -> str:
    """Return the range, the length or the number of elements that a schema allows, in words; often there is none."""
    for option in (schema, *schema.get("anyOf", ())):
        for least, most, unit in (
            ("minimum", "maximum", ""),
            ("minLength", "maxLength", " characters"),
            ("minItems", "maxItems", " elements"),
        ):
            low, high = option.get(least), option.get(most)
            if high is not None and high == low:
                return f"{high}{unit}."
            if high is not None and high < _ENDLESS:
                return f"{low} to {high}{unit}." if low is not None else f"At most {high}{unit}."
            if low is not None:
                return f"At least {low}{unit.removesuffix('s') if low == 1 else unit}."
    return ""


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
