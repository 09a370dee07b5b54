"""`GET /static/{name}`: the style sheets, scripts and pictures of the pages.

Pages request `style.DIGEST.css`, which never changes and may be cached for a year. A request with another digest, for
example from another release's page, gets the current file without caching.
"""

from functools import cache
from importlib.resources import files

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.page_kit.page import page_endpoint
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.kit.digest import digest_of
from tradecounter.kit.errors import DomainError, Kind

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
    """A static file from this package."""

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
