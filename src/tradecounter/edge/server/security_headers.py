"""The security headers of every response, which browsers obey, and which sites may read responses (CORS)."""

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from tradecounter.edge.rest.headers import DEPRECATION, PAGING, SUNSET
from tradecounter.edge.rest.responses import Header, error_response
from tradecounter.kit.errors import Code

NO_FRAMES = "frame-ancestors 'none'"

_ALWAYS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", NO_FRAMES.encode()),
)
_SANDBOX: Header = (b"x-sandbox", b"true")
_OVER_HTTPS: Header = (b"strict-transport-security", b"max-age=31536000")  # a year, of this host alone


def security_headers(base_url: str | None, *, sandbox: bool) -> tuple[Header, ...]:
    """Return the headers for a public URL, also `X-Sandbox` of a sandbox; a response may replace the content policy."""
    is_https = base_url is not None and base_url.startswith("https:")
    return (*_ALWAYS, *((_OVER_HTTPS,) if is_https else ()), *((_SANDBOX,) if sandbox else ()))


_METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")
_REQUEST_HEADERS = (
    "Authorization", "Idempotency-Key", "If-None-Match", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "X-Api-Key",
    "X-Request-Id",
)  # fmt: skip
_EXPOSED_HEADERS = (
    *(header.name for header in PAGING), "ETag", "Idempotent-Replay", "RateLimit", "RateLimit-Policy", "Retry-After",
    "X-Corrected", "X-Cursor", "X-Ignored", "X-Request-Id", "X-Sandbox", "X-Unknown-Sku", "WWW-Authenticate",
)  # fmt: skip
_CACHED_SECONDS = 600
_ALLOWED = 200


class _CrossOrigin(CORSMiddleware):
    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        headers = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        if response.status_code == _ALLOWED:
            return Response(status_code=204, headers=headers)
        return error_response(
            "this page may not send this request: its origin, method or headers are not allowed",
            Code.INVALID,
            400,
            headers,
        )


def cross_origin(app: ASGIApp, origins: str | None) -> ASGIApp:
    """Return an application that pages of these comma-separated origins may call."""
    allowed = [origin.strip() for origin in (origins or "").split(",") if origin.strip()]
    if not allowed:
        return app
    return _CrossOrigin(
        app,
        allow_origins=allowed,
        allow_methods=_METHODS,
        allow_headers=_REQUEST_HEADERS,
        expose_headers=(*_EXPOSED_HEADERS, DEPRECATION.name, SUNSET.name),
        max_age=_CACHED_SECONDS,
    )
