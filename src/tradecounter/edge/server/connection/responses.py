"""How a connection writes responses: the head and the body at once, and its own errors without the application."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HEADER_RE, HEADER_VALUE_RE, STATUS_LINE, RequestResponseCycle

from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.responses import Error, Header
from tradecounter.kit.errors import Code
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


_SENT_BY_UVICORN = frozenset({b"connection", b"transfer-encoding"})
_MOST_COPIED = 64 * 1024  # bytes of a body that is joined to its head


async def respond(cycle: RequestResponseCycle, app: ASGI3Application, scope: Any, receive: Any, _send: Any) -> None:
    """Run an application, and send its whole responses in one write.

    Uvicorn writes the head and the body one after the other, and looks at each header on its own, which takes half of
    the time of sending.
    """
    await app(scope, receive, OneWrite(cycle).send)


class OneWrite:
    """Sends a whole response in one write; uvicorn sends all others itself."""

    __slots__ = ("_cycle", "_start")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._start: Any = None  # the message with the head, until the first part of the body comes

    async def send(self, message: Any) -> None:
        """Send an ASGI message; a head waits for the next message, which may be that of an error."""
        cycle = self._cycle
        if message["type"] == "http.response.start" and not cycle.response_started:
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body", False) and self._write(start, message):
                return
            await RequestResponseCycle.send(cycle, start)
        await RequestResponseCycle.send(cycle, message)

    def _write(self, start: Any, message: Any) -> bool:
        """Write a whole response; return False, and do nothing, if uvicorn must send it."""
        cycle, body = self._cycle, message.get("body", b"")
        headers: list[Header] = [*cycle.default_headers, *start["headers"]]
        by_name = dict(headers)
        if (
            cycle.disconnected
            or cycle.flow.write_paused
            or cycle.access_log
            or len(body) > _MOST_COPIED
            or cycle.scope["method"] == "HEAD"
            or by_name.get(b"content-length") != b"%d" % len(body)
            or not _SENT_BY_UVICORN.isdisjoint(by_name)
            or HEADER_RE.search(b"".join(by_name))
            or HEADER_VALUE_RE.search(b"".join([value for _, value in headers]))
        ):
            return False
        lines = [STATUS_LINE[start["status"]]]
        for name, value in headers:
            lines += (name, b": ", value, b"\r\n")
        lines += (b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n", body)
        cycle.waiting_for_100_continue = False
        cycle.response_started = cycle.response_complete = True
        cycle.transport.write(b"".join(lines))
        cycle.message_event.set()
        if not cycle.keep_alive:
            cycle.transport.close()
        cycle.on_response()
        return True
