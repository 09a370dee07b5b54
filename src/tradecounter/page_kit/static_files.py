"""`GET /static/{name}`: the style sheet, scripts and icon of the pages.

Pages request `style.DIGEST.css`, which never changes and may be cached for a year. For another digest, such as one from
a process of another release, the response is the current file, without such caching.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.responses import Response

from tradecounter.kit.digest import digest_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.page_kit.page import page_endpoint
from tradecounter.rest.call import Call
from tradecounter.rest.conditional import conditional_response

_DIGITS = 12
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file of the package."""

    body: bytes
    digest: bytes
    media_type: str

    @property
    def short_digest(self) -> str:
        """The part of the digest in the file's address."""
        return self.digest.hex()[:_DIGITS]


@cache
def static_files() -> dict[str, StaticFile]:
    """Return the static files by name."""
    found = {}
    for file in files("tradecounter.page_kit").joinpath("static").iterdir():
        body = file.read_bytes()
        media_type = _MEDIA_TYPES[file.name[file.name.rindex(".") :]]
        found[file.name] = StaticFile(body, digest_of(body), media_type)
    return found


def static_address(name: str) -> str:
    """Return the address of a static file, relative to a page at the top of the service."""
    stem, _, ending = name.rpartition(".")
    return f"static/{stem}.{static_files()[name].short_digest}.{ending}"


@dataclass(frozen=True, slots=True)
class StaticEndpoint:
    """The static files."""

    @page_endpoint("/static/{name}", "A static file of the pages")
    async def send_file(self, call: Call) -> Response:
        stem, _, ending = call.path("name").rpartition(".")
        name, _, digest = stem.rpartition(".")
        file = static_files().get(f"{name}.{ending}")
        if file is None:
            raise DomainError(Kind.NOT_FOUND, "there is no such file")
        response = conditional_response(call, file.digest, file.media_type, lambda: Response(file.body))
        response.headers["Content-Type"] = f"{file.media_type}; charset=utf-8"
        response.headers["Vary"] = "Accept-Encoding"
        if digest == file.short_digest:
            response.headers["Cache-Control"] = _FOR_A_YEAR
        return response


@dataclass(frozen=True, slots=True)
class BackOfficeStatic(StaticEndpoint):
    """The static files of the back office's reference, which is one level further down."""

    @page_endpoint("/api/static/{name}", "A static file of the pages")
    async def send_api_file(self, call: Call) -> Response:
        return await self.send_file(call)
