"""Checks every response of the tests against the interface document: an undocumented response fails its test."""

import copy
import json
import re
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2
import jsonschema_rs

from tradecounter.db.pool import Database
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings
from tradecounter.sites.back_office import BackOffice
from tradecounter.sites.public import Application

Document = dict[str, Any]
Problems = Callable[[Any], list[str]]

GENERAL_ERROR = {"$ref": "#/components/schemas/Error"}
_FILES = re.compile("/(static|picture)/")
AGENTS = "/mcp"  # for clients of another protocol, whose messages the document does not describe
PAGES = {"/docs", "/guide", "/api/docs"}  # for people: the document does not list them, nor the static files
_ANYTHING = "sku"  # the one path parameter that may hold slashes
PAGES |= {"/changelog", "/changelog.json", "/llms.txt", "/guide.md", "/docs.md", "/.well-known/security.txt"}

# What every response may have, as HTTP or the document's introduction says; any other header must be documented.
_ANY_RESPONSES = {"cache-control", "connection", "content-encoding", "content-length", "content-type", "date", "pragma",
                "transfer-encoding", "vary", "x-ignored", "x-sandbox"}  # fmt: skip
# What every response has for browsers, as the document says once for all of them.
_STANDING = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
_POLICY = "content-security-policy"
_OVER_HTTPS = "strict-transport-security"
_BROWSERS = "access-control-"  # for pages of another origin, which `test_cross_origin.py` looks at

# All is plain HTTP here; to read which authorities this machine trusts would take longer than most tests.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@cache
def interface_document() -> Document:
    """The current document of the API, for some base URL."""
    return Application(Settings(), Database("postgresql://"), SystemClock()).document("https://api.example")


def everything(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from everything(part)


def resolve(document: Document, given: dict[str, Any]) -> dict[str, Any]:
    """A part of the document, or what it refers to."""
    while "$ref" in given:
        found: Any = document
        for step in given["$ref"].removeprefix("#/").split("/"):
            assert step in found, given["$ref"]
            found = found[step]
        given = found
    return given


def closed(document: Document) -> Document:
    """The document with every object's schema closed, so that members which it does not name are problems."""
    strict = copy.deepcopy(document)
    for schema in everything(strict):
        if schema.get("type") == "object" and "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return strict


def problems_by(document: Document, schema: dict[str, Any]) -> Problems:
    """What finds the problems of a value with a schema of the document, which is compiled at its first use."""
    rooted = {"components": {"schemas": document["components"]["schemas"]}, **schema}

    @cache
    def validator() -> Any:
        return jsonschema_rs.Draft202012Validator(rooted, validate_formats=True)

    def problems(value: Any) -> list[str]:
        found = validator().iter_errors(value)
        return [f"{'/'.join(map(str, error.instance_path))}: {error.message}" for error in found]

    return problems


@dataclass
class Described:
    """One response of the document: its bodies by media type, and its headers."""

    bodies: dict[str, Problems] = field(default_factory=dict)
    headers: dict[str, "DescribedHeader"] = field(default_factory=dict)


@dataclass
class DescribedHeader:
    """A header of a response of the document."""

    required: bool
    is_number: bool
    problems: Problems


@dataclass
class Interface:
    """The interface document, ready to judge responses by."""

    document: Document
    paths: list[tuple[re.Pattern[str], str]]
    responses: dict[tuple[str, str, int], Described]
    operations: dict[str, set[str]]
    error: Problems
    seen: set[tuple[str, str, int]] = field(default_factory=set)

    def path_of(self, path: str) -> str | None:
        """The path of the document that a decoded path is one of; one without parameters comes first."""
        return next((template for pattern, template in self.paths if pattern.fullmatch(path)), None)

    def check(self, response: httpx2.Response) -> None:
        """Fail unless the document announces the response."""
        found = list(self._problems(response))
        request = response.request
        assert not found, (
            f"{request.method} {request.url} returned {response.status_code} against the document: {found}"
        )

    def _problems(self, response: httpx2.Response) -> Iterator[str]:
        method, status = response.request.method, response.status_code
        if not response.headers.get("X-Request-Id"):
            yield "X-Request-Id is missing"
        yield from _security_problems(response.headers)
        path = self.path_of(response.request.url.path)
        operations = set() if path is None else self.operations[path]
        described_method = "GET" if method == "HEAD" else method
        if path is None and (response.request.url.path in PAGES or _FILES.search(response.request.url.path)):
            operations = {"GET"}
        if response.request.url.path == AGENTS:
            operations = {"POST"}
        if method == "OPTIONS" and "Access-Control-Request-Method" in response.request.headers:
            return  # a preflight request; `test_cross_origin.py` looks at the response
        if method == "OPTIONS" and operations:
            yield from [] if (status, response.content) == (204, b"") else ["OPTIONS gets a 204"]
            yield from self._allow(response, operations)
        elif described_method in operations:
            if path is not None:
                yield from self._described(response, described_method, path)
        elif operations:
            yield from [] if status == 405 else ["an unknown method gets a 405"]
            yield from self._allow(response, operations)
            yield from self._general_error(response)
        else:
            yield from [] if status == 404 else ["an unknown address gets a 404"]
            yield from self._general_error(response)

    def _described(self, response: httpx2.Response, method: str, path: str) -> Iterator[str]:
        described = self.responses.get((method, path, response.status_code))
        if described is None:
            yield f"the status is not announced for {method} {path}"
            return
        self.seen.add((method, path, response.status_code))
        for name, header in described.headers.items():
            yield from _header_problems(name, response.headers.get(name), header)
        announced = {name.lower() for name in described.headers} | _ANY_RESPONSES | {*_STANDING, _POLICY, _OVER_HTTPS}
        for name in response.headers.keys() - announced:
            if not name.startswith(_BROWSERS):
                yield f"the header {name} is not announced"
        media_type = response.headers.get("content-type", "").partition(";")[0]
        if not described.bodies or response.request.method == "HEAD":
            yield from ["there should be no body"] if response.content else []
        elif media_type not in described.bodies:
            yield f"the media type {media_type!r} is not announced"
        else:
            yield from described.bodies[media_type](_decoded(response, media_type))

    def _general_error(self, response: httpx2.Response) -> Iterator[str]:
        if response.headers.get("content-type") != "application/json":
            yield "an error is JSON"
        elif response.request.method != "HEAD":
            yield from self.error(response.json())

    @staticmethod
    def _allow(response: httpx2.Response, operations: set[str]) -> Iterator[str]:
        allowed = {method.strip() for method in response.headers.get("Allow", "").split(",")}
        wanted = operations | {"OPTIONS"} | ({"HEAD"} if "GET" in operations else set())
        if allowed != wanted:
            yield f"Allow names {sorted(allowed)}, not {sorted(wanted)}"


def _security_problems(headers: httpx2.Headers) -> Iterator[str]:
    for name, value in _STANDING.items():
        if headers.get_list(name) != [value]:
            yield f"the header {name} is not {value}"
    if not headers.get(_POLICY, "").endswith("frame-ancestors 'none'"):
        yield "the response may be framed"


def _header_problems(name: str, value: str | None, header: DescribedHeader) -> Iterator[str]:
    if value is None:
        yield from [f"the header {name} is missing"] if header.required else []
        return
    typed: Any = int(value) if header.is_number and value.isdigit() else value
    yield from (f"the header {name}: {value!r}: {problem}" for problem in header.problems(typed))


def _decoded(response: httpx2.Response, media_type: str) -> Any:
    if media_type == "application/json":
        return json.loads(response.content)
    return response.content.decode() if media_type.startswith("text/") or media_type == "application/yaml" else ""


@cache
def backoffice_document() -> Document:
    """The current document of the back office, for some base URL."""
    return BackOffice(Settings(), Database("postgresql://"), SystemClock()).document("https://backoffice.example")


@cache
def interface() -> Interface:
    """The customers' interface document, compiled once."""
    return compiled(interface_document())


@cache
def backoffice_interface() -> Interface:
    """The back office's interface document, compiled once."""
    return compiled(backoffice_document())


def compiled(document: Document) -> Interface:
    """An interface document, ready to judge responses by."""
    strict = closed(document)
    known: dict[str, Problems] = {}

    def compile_once(schema: dict[str, Any]) -> Problems:
        key = json.dumps(schema, sort_keys=True)
        if key not in known:
            known[key] = problems_by(strict, schema)
        return known[key]

    responses = {}
    for path, methods in strict["paths"].items():
        for method, operation in methods.items():
            for status, given in operation["responses"].items():
                response = resolve(strict, given)
                responses[method.upper(), path, int(status)] = Described(
                    {name: compile_once(media["schema"]) for name, media in response.get("content", {}).items()},
                    {
                        name: DescribedHeader(
                            header.get("required", False),
                            header["schema"].get("type") == "integer",
                            compile_once(header["schema"]),
                        )
                        for name, reference in response.get("headers", {}).items()
                        for header in [resolve(strict, reference)]
                    },
                )
    paths = sorted(document["paths"], key=lambda path: ("{" in path, path.count("{"), path))
    patterns = [(_pattern(path), path) for path in paths]
    operations = {path: {method.upper() for method in methods} for path, methods in strict["paths"].items()}
    return Interface(document, patterns, responses, operations, compile_once(GENERAL_ERROR))


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", path)
    names = [".*" if name == _ANYTHING else "[^/]+" for name in parts[1::2]]
    literals = [re.escape(literal) for literal in parts[::2]]
    return re.compile("".join(a + b for a, b in zip(literals, [*names, ""], strict=True)), re.DOTALL)


def checked_client(judge: Callable[[], Interface] = interface, **options: Any) -> httpx2.Client:
    """A client whose every response is held to an interface document."""

    def check(response: httpx2.Response) -> None:
        response.read()
        judge().check(response)

    return httpx2.Client(event_hooks={"response": [check]}, timeout=30, verify=_NO_TLS, **options)
