"""Uvicorn's HTTP protocol with bounds on what a client can make it hold, and errors that look like all others.

Uvicorn alone would collect endless headers, trailers and pipelined requests in memory, take trailers for headers, and
wait forever for a request that never ends or for a client that never reads (docs/adr/0013).
"""

import asyncio
from typing import Any

import httptools
import structlog
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from tradecounter.web.connections import Connections
from tradecounter.web.head_checks import (
    LONGEST_METHOD,
    METHOD_BYTES,
    STAND_IN,
    check_head,
    head_without_offer,
    is_of_method,
    with_path,
)
from tradecounter.web.refusals import (
    FAULT,
    HEAD_TOO_LONG,
    NOT_HTTP,
    TOO_MANY_CONNECTIONS,
    RefusedError,
    refusal,
)
from tradecounter.web.stopping import Stopping
from tradecounter.web.tcp import taken_bytes

log = structlog.get_logger()

_PIECE = 4096  # bytes that are parsed at a time; what is over a limit by less than this may pass
_CHUNK_LINES = 12  # bytes around a chunk that are as good as data: its size, and two line breaks


class _Flow(FlowControl):
    """Flow control that reads no further while a request waits for the response to the one before it."""

    holds = False

    def hold(self) -> None:
        self.holds = True
        self.pause_reading()

    def resume_reading(self) -> None:
        if not self.holds:
            super().resume_reading()


class BoundedHttp(HttpToolsProtocol):
    """One client's connection to an application that has `connections` and `stopping`."""

    most_head_bytes = 64 * 1024  # of a request line and headers, and of what surrounds a body: trailers, extensions
    longest_seconds = 30.0  # for a request to arrive, from the connection or the request's first byte to its last
    longest_stuck_seconds = 30.0  # for which a client takes nothing of a response that is ready for it
    linger_seconds = 1.0  # for a client to read why it was refused

    # Python is slow with objects of more than thirty attributes, and uvicorn has used up nearly all: these have slots.
    __slots__ = (
        "_answering",
        "_beginning",
        "_begun",
        "_body_bytes",
        "_chunks",
        "_connections",
        "_deadline",
        "_head_decides",
        "_in_head",
        "_method",
        "_naming",
        "_overhead",
        "_refusal",
        "_refused",
        "_stopping",
        "_taken",
        "_taken_at",
        "_under_way",
        "_unread",
    )
    flow: _Flow

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connections: Connections = self.app.connections
        self._stopping: Stopping = self.app.stopping
        self._under_way = False
        self._in_head = True
        self._head_decides = False  # whether another request may follow, whatever the trailers say
        self._beginning = b""  # of the request under way, while only its method has come
        self._method = b""  # of the request under way, where the parser does not know it
        self._naming = False  # while more of that method may come
        self._begun = 0  # requests that began in the data that is taken in
        self._overhead = 0  # bytes of the request under way that are no data of its body
        self._body_bytes = 0  # in the piece that is parsed
        self._chunks = 0  # in the piece that is parsed
        self._unread = b""  # received, and not parsed while the connection holds
        self._refused = False  # from then on, what the client sends is thrown away
        self._refusal: RefusedError | None = None  # which waits for the responses before it
        self._deadline: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None
        self._taken: int | None = None  # what the client had taken at the last look; None while nothing waits for it
        self._taken_at = 0.0  # on the loop's clock: when it was first seen to have taken that

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request, or refuse the connection."""
        super().connection_made(transport)
        self.flow = _Flow(transport)
        if self._connections.admit(self, self.client[0] if self.client else None):
            self._set_deadline()
        else:
            self._refuse_connection()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer, and have no response made for the client that is gone."""
        self._connections.forget(self)
        self._clear_deadline()
        self._unread = b""
        self._abandon_responses()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request."""
        if self._refused:
            return
        self._unset_keepalive_if_required()
        self._begun = 0
        self._take_in(self._unread + data)

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        super().on_message_begin()
        self._under_way = self._in_head = True
        self._begun += 1
        self._overhead = 0
        if self._head_decides:
            self._let_the_head_decide(decides=False)
        self._clear_deadline()
        self._unset_keepalive_if_required()  # which a request in the same piece, answered at once, may have set

    def on_headers_complete(self) -> None:
        """Begin to answer. Raises RefusedError."""
        if not self.parser.should_upgrade():
            if not self.url.startswith(b"/"):
                self.url = with_path(self.url)
            self.begin_answer()
            self._in_head = False
            self.headers = []  # where trailers end up, which nobody reads

    def begin_answer(self) -> None:
        """Have the application answer the request whose head is there. Raises RefusedError."""
        check_head(self.headers, self.parser)
        super().on_headers_complete()
        if self.pipeline:
            self.flow.hold()
        if self._method:
            self.scope["method"] = self._method.decode()
        if self._stopping.is_set or self._method:
            self.cycle.keep_alive = False

    def on_chunk_header(self) -> None:
        """Count a chunk."""
        self._chunks += 1
        if not self._head_decides and self.parser.should_keep_alive():
            self._let_the_head_decide(decides=True)

    def _let_the_head_decide(self, *, decides: bool) -> None:
        """Have the parser read on behind the request, even when `Connection: close` comes among its trailers."""
        self._head_decides = decides
        self.parser.set_dangerous_leniencies(lenient_keep_alive=decides)

    def on_body(self, body: bytes) -> None:
        """Count and take in a piece of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the whole request is there."""
        if not self.parser.should_upgrade():
            self._under_way = False
            self._clear_deadline()
            self.end_request()

    def end_request(self) -> None:
        """Tell the application that the whole request is there."""
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the requests that wait."""
        self.flow.holds = len(self.pipeline) > 1
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if self._refusal is None:
            self._take_in(self._unread)
        elif self._answering is None or self._answering.response_complete:
            self._write_refusal(self._refusal)
            self._linger()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def cut_if_stuck(self, now: float) -> bool:
        """Break the connection when the client has taken nothing for too long; return whether it was broken."""
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
        """Close the connection when its client wants nothing; otherwise the response under way does."""
        if not self._under_way and not self._is_answering():
            self.transport.close()

    def announce_end(self) -> None:
        """Have the response under way close the connection, unless it has begun and said otherwise."""
        if self._answering is not None and not self._answering.response_started:
            self._answering.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(NOT_HTTP)

    def _take_in(self, data: bytes) -> None:
        taken = 0
        while taken < len(data) and not self._refused and not self.flow.holds:
            piece, taken = data[taken : taken + _PIECE], taken + _PIECE
            begun, self._body_bytes, self._chunks = self._begun, 0, 0
            try:
                self._parse(piece)
            except httptools.HttpParserError as error:
                self._refuse_unparsed(error)
            else:
                if self._under_way and self._begun == begun:
                    self._count(piece)
        self._unread = data[taken:] if self.flow.holds else b""
        if self.flow.holds:
            self._clear_deadline()  # the client is not who keeps the request from arriving
        # Most requests come whole and need no timer. Line breaks alone are no request: the wait for one goes on.
        elif self._deadline is None and not self._refused and (self._under_way or self._is_idle()):
            self._set_deadline()

    def _count(self, piece: bytes) -> None:
        """Count what a piece brought that is no data of the body. Where a request begins in it, nothing counts."""
        self._overhead += max(0, len(piece) - self._body_bytes - self._chunks * _CHUNK_LINES)
        if self._overhead > self.most_head_bytes:
            self._refuse(HEAD_TOO_LONG)

    def _parse(self, piece: bytes) -> None:
        """Parse a piece, however many requests in it offer another protocol. Raises httptools.HttpParserError."""
        start, self._beginning = self._beginning + piece, b""
        has_start = len(start) > len(piece) or not self._under_way
        begun = self._begun if self._under_way else self._begun + 1
        if self._naming:
            piece = self._read_method(piece)
        while piece:
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade as offer:
                self._start_anew_without_upgrade()
                piece = piece[offer.args[0] :]
            except httptools.HttpParserError as error:
                if not (is_of_method(error) and has_start and self._begun == begun):
                    raise
                self._start_anew_with_known_method()
                piece = self._read_method(start.lstrip(b"\r\n"))
            else:
                if has_start and len(start) <= LONGEST_METHOD and self._under_way and not self.url:
                    self._beginning = start
                return

    def _start_anew_with_known_method(self) -> None:
        """Read a request whose method the parser does not know as one that no resource has.

        The application gets the method as it was sent, and refuses it as it does all methods that a resource lacks. The
        connection is closed then: where such a request ends may be another question to whoever passed it on.
        """
        self._start_parser()
        self.parser.feed_data(STAND_IN)
        self._naming = True

    def _read_method(self, piece: bytes) -> bytes:
        """Take what a piece has of an unknown method, and return the rest. Raises httptools.HttpParserError."""
        rest = piece.lstrip(METHOD_BYTES)
        self._method += piece[: len(piece) - len(rest)]
        self._naming = not rest
        if not self._method or len(self._method) > LONGEST_METHOD:
            raise httptools.HttpParserError("not a method")
        return rest

    def _start_parser(self) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn: it is overlooked

    def _start_anew_without_upgrade(self) -> None:
        """Read a request that offers another protocol as if it did not: the parser would take its body for that one.

        Java's client offers HTTP/2 with every request; HTTP lets a server ignore that (RFC 9110, section 7.8).
        """
        method = self.parser.get_method()
        if method == b"CONNECT":
            raise httptools.HttpParserError("this is no proxy")
        head = head_without_offer(method, self.url, self.parser.get_http_version(), self.headers)
        self._start_parser()
        self.parser.feed_data(head)

    def _is_answering(self) -> bool:
        """Return whether a response is being made or written, other than at once."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _is_idle(self) -> bool:
        return self.timeout_keep_alive_task is None and not self._is_answering()

    def _refuse_unparsed(self, error: httptools.HttpParserError) -> None:
        cause = error.__context__ if isinstance(error, httptools.HttpParserCallbackError) else None
        if isinstance(cause, RefusedError):
            self._refuse(cause)
        elif cause is None or isinstance(cause, httptools.HttpParserError):
            self.send_400_response("")
        else:
            log.error("a request could not be taken in", exc_info=cause)
            self._refuse(FAULT)

    def _refuse(self, refused: RefusedError) -> None:
        """Refuse the request that is being read, once those before it are answered, and hang up.

        A request that has been answered already gets no second response: its client would take that for the next one's.
        """
        if self.transport.is_closing():
            return
        latest: RequestResponseCycle | None = self.cycle
        if self._in_head or not self._under_way or latest is None:  # the application has not been asked
            waits = self._is_answering()
        elif latest.response_started:
            self.transport.close()
            return
        else:
            waits = latest is not self._answering
            if waits:
                self.pipeline.popleft()
        if waits:
            self._refused, self._refusal = True, refused
        else:
            self._abandon_responses()
            self._write_refusal(refused)
            self._linger()

    def _refuse_connection(self) -> None:
        self._write_refusal(TOO_MANY_CONNECTIONS)
        if self._connections.linger(self):
            self._linger()
        else:
            self._refused = True
            self.transport.close()

    def _write_refusal(self, refused: RefusedError) -> None:
        self.transport.write(refusal(refused, getattr(self.app, "standing_headers", ())))

    def _linger(self) -> None:
        """Close once the client does, or soon: closing with data unread would reset the connection under its eyes."""
        self._refused = self._under_way = True
        self._clear_deadline()
        self.transport.write_eof()
        self._deadline = self.loop.call_later(self.linger_seconds, self.transport.close)

    def _abandon_responses(self) -> None:
        """Tell the application that nobody waits for its response."""
        self.pipeline.clear()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.longest_seconds, self.transport.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
