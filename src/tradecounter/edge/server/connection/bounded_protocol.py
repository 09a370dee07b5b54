"""Uvicorn's HTTP protocol with limits on memory and time, and with errors in the service's format.

Uvicorn alone would collect endless headers, trailers and pipelined requests in memory, treat trailers as headers, and
wait forever for a request that never ends or a client that never reads (docs/adr/0013).
"""

import asyncio
from functools import partial
from typing import Any

import httptools
import structlog
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from tradecounter.edge.server.connection.connections import Connections, taken_bytes
from tradecounter.edge.server.connection.lenient_protocol import LenientProtocol, check_head
from tradecounter.edge.server.connection.responses import (
    HEAD_TOO_LONG,
    NOT_HTTP,
    TOO_MANY_CONNECTIONS,
    UNEXPECTED,
    RejectedError,
    error_bytes,
    respond,
)
from tradecounter.edge.server.request_figures import RequestFigures

log = structlog.get_logger()

_PIECE = 4096  # bytes per parser call; a request may exceed a limit by less than this
_UNREAD = "other"  # the method of a request that was not read
_CHUNK_LINES = 12  # bytes of a chunk's size and its two line breaks, which count as data


class _Flow(FlowControl):
    """Flow control that pauses reading while a request waits for the previous response."""

    is_blocked = False

    def block(self) -> None:
        self.is_blocked = True
        self.pause_reading()

    def resume_reading(self) -> None:
        if not self.is_blocked:
            super().resume_reading()


class BoundedProtocol(LenientProtocol):
    """One client's connection to an application that has `connections`, `requests` and `stopping`."""

    most_head_bytes = 64 * 1024  # bytes of request line, headers, trailers and chunk extensions
    longest_seconds = 30.0  # seconds for a request to arrive, from the connection or its first byte to its last
    longest_stuck_seconds = 30.0  # seconds without reading before the connection is cut
    linger_seconds = 1.0  # seconds for a client to read an error response

    __slots__ = (
        "_body_bytes",
        "_chunks",
        "_connections",
        "_deadline",
        "_overhead",
        "_pending_error",
        "_rejected",
        "_requests",
        "_responding",
        "_stopping",
        "_taken",
        "_taken_at",
        "_unread",
    )
    flow: _Flow

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connections: Connections = self.app.connections
        self._requests: RequestFigures = self.app.requests
        self._stopping: asyncio.Event = self.app.stopping
        self._overhead = 0  # bytes of the current request, without body data
        self._body_bytes = 0  # in the current piece
        self._chunks = 0  # in the current piece
        self._unread = b""  # received bytes that the paused flow does not parse yet
        self._rejected = False  # when set, received data is discarded
        self._pending_error: RejectedError | None = None  # sent after the previous responses
        self._deadline: asyncio.TimerHandle | None = None
        self._responding: RequestResponseCycle | None = None
        self._taken: int | None = None  # bytes read by the client at the last check; None if it has read all
        self._taken_at = 0.0  # the first check with that number, on the loop's clock

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request, or reject the connection."""
        super().connection_made(transport)
        self.flow = _Flow(transport)
        if self._connections.admit(self, self.client[0] if self.client else None):
            self._set_deadline()
        else:
            self._reject_connection()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all responses to the client."""
        self._connections.forget(self)
        self._clear_deadline()
        self._unread = b""
        self._abandon_responses()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data in pieces, so that limits are checked often."""
        if self._rejected:
            return
        self._unset_keepalive_if_required()
        self._begun = 0
        self._parse_pieces(self._unread + data)

    def on_message_begin(self) -> None:
        """Reset the counts for a new request."""
        super().on_message_begin()
        self._under_way = self._in_head = True
        self._begun += 1
        self._overhead = 0
        if self._head_decides:
            self._let_the_head_decide(decides=False)
        self._clear_deadline()
        self._unset_keepalive_if_required()  # a cached response to a request in the same piece may have set it

    def begin_response(self) -> None:
        """Start the application's response to a request whose head is complete. Raises RejectedError."""
        check_head(self.headers, self.parser)
        super().begin_response()
        if self.pipeline:
            self.flow.block()
        if self._stopping.is_set() or self._method:
            self.cycle.keep_alive = False

    def on_chunk_header(self) -> None:
        """Count a chunk of the body."""
        super().on_chunk_header()
        self._chunks += 1

    def on_body(self, body: bytes) -> None:
        """Count the body's bytes and pass them on."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request, unless its head is parsed again without its upgrade."""
        if not self.parser.should_upgrade():
            self._under_way = False
            self._clear_deadline()
            self.end_request()

    def end_request(self) -> None:
        """Tell the application that the request is complete."""
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Continue with pipelined requests."""
        self.flow.is_blocked = len(self.pipeline) > 1
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if self._pending_error is None:
            self._parse_pieces(self._unread)
        elif self._responding is None or self._responding.response_complete:
            self._write_error(self._pending_error)
            self._linger()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._responding = cycle
        super()._start_asgi_task(cycle, partial(respond, cycle, app))

    def cut_if_stuck(self, now: float) -> bool:
        """Cut the connection if the client has stopped reading; return whether it was cut."""
        if not self.transport.get_write_buffer_size():
            self._taken = None
            return False
        taken = taken_bytes(self.transport)
        if taken != self._taken:
            self._taken, self._taken_at = taken, now
        if now - self._taken_at < self.longest_stuck_seconds:
            return False
        self.transport.abort()
        return True

    def shutdown(self) -> None:
        """Close an idle connection; otherwise let the current response close it."""
        if not self._under_way and not self._is_responding():
            self.transport.close()

    def announce_end(self) -> None:
        """Let the current response close the connection, unless its head was sent."""
        if self._responding is not None and not self._responding.response_started:
            self._responding.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        """Respond with 400 to data that is not HTTP."""
        self._reject(NOT_HTTP)

    def _parse_pieces(self, data: bytes) -> None:
        parsed = 0
        while parsed < len(data) and not self._rejected and not self.flow.is_blocked:
            piece, parsed = data[parsed : parsed + _PIECE], parsed + _PIECE
            begun, self._body_bytes, self._chunks = self._begun, 0, 0
            try:
                self.parse(piece)
            except httptools.HttpParserError as error:
                self._reject_unparsed(error)
            else:
                if self._under_way and self._begun == begun:
                    self._count(piece)
        self._unread = data[parsed:] if self.flow.is_blocked else b""
        if self.flow.is_blocked:
            self._clear_deadline()  # the service causes this delay, not the client
        # Most requests arrive complete and need no timer. Line breaks before a request do not reset it.
        elif self._deadline is None and not self._rejected and (self._under_way or self._is_idle()):
            self._set_deadline()

    def _count(self, piece: bytes) -> None:
        """Count a piece's bytes that are not body data; a request's first piece is exempt."""
        self._overhead += max(0, len(piece) - self._body_bytes - self._chunks * _CHUNK_LINES)
        if self._overhead > self.most_head_bytes:
            self._reject(HEAD_TOO_LONG)

    def _is_responding(self) -> bool:
        """Return whether the application is responding to a request."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _is_idle(self) -> bool:
        return self.timeout_keep_alive_task is None and not self._is_responding()

    def _reject_unparsed(self, error: httptools.HttpParserError) -> None:
        cause = error.__context__ if isinstance(error, httptools.HttpParserCallbackError) else None
        if isinstance(cause, RejectedError):
            self._reject(cause)
        elif cause is None or isinstance(cause, httptools.HttpParserError):
            self.send_400_response("")
        else:
            log.error("unexpected error while reading a request", exc_info=cause)
            self._reject(UNEXPECTED)

    def _reject(self, error: RejectedError) -> None:
        """Send an error for the current request after all previous responses, then close.

        A request gets at most one response: the client would take a second one for the response to its next request.
        """
        if self.transport.is_closing():
            return
        latest: RequestResponseCycle | None = self.cycle
        if self._in_head or not self._under_way or latest is None:  # the application has not received the request
            waits = self._is_responding()
        elif latest.response_started:
            self.transport.close()
            return
        else:
            waits = latest is not self._responding
            if waits:
                self.pipeline.popleft()
        if waits:
            self._rejected, self._pending_error = True, error
        else:
            self._abandon_responses()
            self._write_error(error)
            self._linger()

    def _reject_connection(self) -> None:
        self._write_error(TOO_MANY_CONNECTIONS)
        if self._connections.linger(self):
            self._linger()
        else:
            self._rejected = True
            self.transport.close()

    def _write_error(self, error: RejectedError) -> None:
        self._requests.add_request(_UNREAD, None, int(error.status[:3]), "connection", 0.0, error.reason)
        self.transport.write(error_bytes(error, getattr(self.app, "standing_headers", ())))

    def _linger(self) -> None:
        """Close when the client does, or after `linger_seconds`; an earlier close could reset the connection."""
        self._rejected = self._under_way = True
        self._clear_deadline()
        self.transport.write_eof()
        self._deadline = self.loop.call_later(self.linger_seconds, self.transport.close)

    def _abandon_responses(self) -> None:
        """Notify the application that the client has disconnected."""
        self.pipeline.clear()
        if self._responding is not None and not self._responding.response_complete:
            self._responding.disconnected = True
            self._responding.message_event.set()

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.longest_seconds, self.transport.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
