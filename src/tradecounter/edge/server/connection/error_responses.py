"""The error responses that a connection sends itself, without the application."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.responses import Error, Header
from tradecounter.kit.error_codes import Code
from tradecounter.kit.json_text import to_json

_RETRY_SECONDS = 5


@dataclass
class RejectedError(Exception):
    """A request or connection is rejected; raised in a parser callback, it stops the parser."""

    status: str
    message: str
    code: Code = Code.INVALID
    headers: str = ""
    reason: str | None = None  # in metrics, if the status does not say it


NOT_HTTP = RejectedError("400 Bad Request", "the request is not valid HTTP", reason="not_http")
HEAD_TOO_LONG = RejectedError(
    "431 Request Header Fields Too Large", "the request's headers or trailers are too long", Code.TOO_LARGE
)
UNEXPECTED = RejectedError("500 Internal Server Error", "unexpected error", Code.INTERNAL_ERROR)
TOO_MANY_CONNECTIONS = RejectedError(
    "503 Service Unavailable",
    f"too many connections; try again in {_RETRY_SECONDS} seconds",
    Code.UNAVAILABLE,
    f"Retry-After: {_RETRY_SECONDS}\r\n",
    "too_many_connections",
)


def error_bytes(error: RejectedError, standing_headers: Iterable[Header]) -> bytes:
    """Return an error response with the general error body and the common headers."""
    body = to_json(Error(error.message, error.code))
    head = (
        f"HTTP/1.1 {error.status}\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n{error.headers}"
        f"X-Request-Id: {secrets.token_hex(8)}\r\nConnection: close\r\n"
    )
    standing = b"".join(name + b": " + value + b"\r\n" for name, value in standing_headers)
    return head.encode() + standing + b"\r\n" + body
