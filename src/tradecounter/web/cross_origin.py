"""Letting pages of other origins call the API from a browser (CORS); off unless `CORS_ORIGINS` names some."""

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from tradecounter.rest.headers import PAGING
from tradecounter.rest.responses import error_response

_METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")
_REQUEST_HEADERS = ("Authorization", "Idempotency-Key", "If-None-Match", "X-Api-Key", "X-Request-Id")
_SHOWN_HEADERS = (
    *(header.name for header in PAGING), "ETag", "Idempotent-Replay", "RateLimit", "RateLimit-Policy", "Retry-After",
    "X-Ignored", "X-Request-Id",
)  # fmt: skip
_SECONDS_REMEMBERED = 600
_GRANTED = 200


class CrossOrigin(CORSMiddleware):
    """Starlette's middleware, with responses in the format of the API."""

    def preflight_response(self, request_headers: Headers) -> Response:
        """Respond to a browser that asks whether a page may send its request."""
        response = super().preflight_response(request_headers)
        headers = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        if response.status_code == _GRANTED:
            return Response(status_code=204, headers=headers)
        return error_response(
            "a page of this origin may not send this request: its origin, method or headers", 400, headers
        )


def cross_origin(app: ASGIApp, origins: str | None) -> ASGIApp:
    """Return an application that pages of some origins, comma-separated, may call; of none, the application itself."""
    allowed = [origin.strip() for origin in (origins or "").split(",") if origin.strip()]
    if not allowed:
        return app
    return CrossOrigin(
        app,
        allow_origins=allowed,
        allow_methods=_METHODS,
        allow_headers=_REQUEST_HEADERS,
        expose_headers=_SHOWN_HEADERS,
        max_age=_SECONDS_REMEMBERED,
    )
