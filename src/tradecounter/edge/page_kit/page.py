"""Sends HTML pages that are the same for all clients, and their style sheets, scripts and pictures."""

import asyncio
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from markupsafe import escape
from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.operation import ANY_ADDRESS, Endpoint, Method, Operation, Success, endpoint
from tradecounter.kit.digest import digest_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.json_text import to_json

_MEDIA_TYPE = "text/html"
# All content comes from the service; no inline scripts or styles. Only scripts send forms (`form-action 'none'`), so
# that a key in a form never becomes part of a URL.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_endpoint(path: str, summary: str) -> Callable[[Method], Method]:
    """Mark a method that sends a page or a static file; the interface document does not list it."""
    return endpoint(_operation(path, summary))


def _operation(path: str, summary: str) -> Operation:
    success = Success(200, summary)
    return Operation(method="GET", path=path, name=path, tag="Service", summary=summary, success=success, public=True)


class Page(Struct, frozen=True):
    """A page, by default of HTML, with ANY_ADDRESS in place of the base URL, and its digest."""

    text: str
    digest: bytes
    media_type: str = _MEDIA_TYPE

    @classmethod
    def of(cls, text: str, media_type: str = _MEDIA_TYPE) -> "Page":
        """Return the page for a string."""
        return cls(text, digest_of(text.encode()), media_type)

    def response(self, call: Call) -> Response:
        """Return the page for the call's base URL, or 304 if the client has the current page."""

        def render() -> Response:
            text = self.text.replace(ANY_ADDRESS, self._written(call.base_url))
            return Response(text, media_type=self.media_type, headers={"Content-Security-Policy": CONTENT_POLICY})

        response = conditional_response(call, self.digest, self.media_type, render)
        response.headers["Content-Security-Policy"] = CONTENT_POLICY
        return response

    def _written(self, base_url: str) -> str:
        """Return a base URL as this kind of text contains it."""
        if self.media_type == _MEDIA_TYPE:
            return str(escape(base_url))
        return to_json(base_url)[1:-1].decode() if self.media_type.endswith("json") else base_url


def page_at(path: str, summary: str, make: Callable[[], Page]) -> Endpoint:
    """Return the endpoint of a page. `make` makes the page once, in a thread, since that may take some 100 ms."""
    made = cache(make)

    async def send(call: Call) -> Response:
        return (await asyncio.to_thread(made)).response(call)

    return Endpoint(_operation(path, summary), send)


_DIGITS = 12
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}


class StaticFile(Struct, frozen=True):
    """A static file from this package.

    Pages request `style.DIGEST.css`, which never changes and may be cached for a year. A request with another digest,
    for example from another release's page, gets the current file without caching.
    """

    body: bytes
    digest: bytes
    media_type: str

    @property
    def short_digest(self) -> str:
        """The part of the digest that the file's URL contains."""
        return self.digest.hex()[:_DIGITS]


@cache
def static_files() -> dict[str, StaticFile]:
    """Return all static files, by name."""
    found = {}
    for file in files("tradecounter.edge.page_kit").joinpath("static").iterdir():
        body = file.read_bytes()
        media_type = _MEDIA_TYPES[file.name[file.name.rindex(".") :]]
        found[file.name] = StaticFile(body, digest_of(body), media_type)
    return found


def static_address(name: str) -> str:
    """Return a static file's URL, relative to a top-level page."""
    stem, _, ending = name.rpartition(".")
    return f"static/{stem}.{static_files()[name].short_digest}.{ending}"


class StaticEndpoint(Struct, frozen=True):
    """The endpoint for static files."""

    @page_endpoint("/static/{name}", "A static file for the pages")
    async def send_file(self, call: Call) -> Response:
        stem, _, ending = call.path("name").rpartition(".")
        name, _, digest = stem.rpartition(".")
        file = static_files().get(f"{name}.{ending}")
        if file is None:
            raise DomainError(Kind.NOT_FOUND, "unknown file")
        response = conditional_response(call, file.digest, file.media_type, lambda: Response(file.body))
        is_text = file.media_type != "image/webp"
        response.headers["Content-Type"] = f"{file.media_type}; charset=utf-8" if is_text else file.media_type
        response.headers["Vary"] = "Accept-Encoding"
        if digest == file.short_digest:
            response.headers["Cache-Control"] = _FOR_A_YEAR
        return response


class BackOfficeStatic(StaticEndpoint, frozen=True):
    """The static files of the back office's reference, which is one level further down."""

    @page_endpoint("/api/static/{name}", "A static file of the pages")
    async def send_api_file(self, call: Call) -> Response:
        return await self.send_file(call)
