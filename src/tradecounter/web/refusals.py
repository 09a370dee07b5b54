"""What a connection refuses by itself, without the application, and what it says then."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

import httptools

from tradecounter.rest.answer_memory import Header
from tradecounter.rest.answers import Error, to_json
from tradecounter.rest.negotiation import JSON

_LONGEST_HOST = 255
_NO_HOST = bytes(_LONGEST_HOST + 1)
_RETRY_SECONDS = 5


@dataclass
class RefusedError(Exception):
    """A refusal; raised from within the parser, it ends the parsing."""

    status: str
    message: str
    headers: str = ""


NOT_HTTP = RefusedError("400 Bad Request", "the request is not valid HTTP")
HEAD_TOO_LONG = RefusedError("431 Request Header Fields Too Large", "the request's headers or trailers are too long")
FAULT = RefusedError("500 Internal Server Error", "unexpected error")
TOO_MANY_CONNECTIONS = RefusedError(
    "503 Service Unavailable",
    f"too many connections; try again in {_RETRY_SECONDS} seconds",
    f"Retry-After: {_RETRY_SECONDS}\r\n",
)


def refusal(refused: RefusedError, standing_headers: Iterable[Header]) -> bytes:
    """Return the response to a refused request, with the general error body and the headers of every response."""
    body = to_json(Error(refused.message))
    head = (
        f"HTTP/1.1 {refused.status}\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n{refused.headers}"
        f"X-Request-Id: {secrets.token_hex(8)}\r\nConnection: close\r\n"
    )
    standing = b"".join(name + b": " + value + b"\r\n" for name, value in standing_headers)
    return head.encode() + standing + b"\r\n" + body


def check_head(headers: list[Header], parser: httptools.HttpRequestParser) -> None:
    """Check what decides where a request goes and where its body ends. Raises RefusedError."""
    said = dict(headers)
    if (
        len(said) == len(headers)
        and b"transfer-encoding" not in said
        and len(said.get(b"host", _NO_HOST)) <= _LONGEST_HOST
    ):
        return  # as nearly always
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) != 1 and (hosts or parser.get_http_version() == "1.1"):
        raise RefusedError("400 Bad Request", "Host: must be given exactly once")
    if hosts and len(hosts[0]) > _LONGEST_HOST:
        raise RefusedError("400 Bad Request", f"Host: must be at most {_LONGEST_HOST} bytes long")
    codings = b",".join(value for name, value in headers if name == b"transfer-encoding")
    if codings and any(coding.strip().lower() != b"chunked" for coding in codings.split(b",")):
        raise RefusedError("501 Not Implemented", "Transfer-Encoding: must be chunked alone")
