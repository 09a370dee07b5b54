"""Uvicorn's HTTP protocol with bounds on what a client can make it hold, and errors that look like all others.

Uvicorn alone would collect an endless header in memory, and wait forever for a request that never ends.
"""

import asyncio
import secrets
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from tradecounter.rest.answer_memory import GivenAnswer, Header, head_lines
from tradecounter.rest.answers import Error, to_json
from tradecounter.rest.negotiation import JSON

_UPGRADING = {b"upgrade", b"http2-settings"}


class AnswerAtOnce(NamedTuple):
    """An answer in one piece that was given before, and the headers of this request alone."""

    answer: GivenAnswer
    own_headers: list[Header]


class Shortcut(Protocol):
    """What an application has as `shortcut` when it can answer some requests without waiting for anything."""

    def read(self, scope: dict[str, Any]) -> Any:
        """Return what a request says; None when there is no shortcut for it."""
        ...

    def known(self, raw: bytes) -> Any:
        """Return what a request says that was learnt by its text; None when it was not."""
        ...

    def learn(self, raw: bytes, asked: Any) -> None:
        """Learn what a request of just this text says."""
        ...

    def at_once(self, asked: Any, client: tuple[str, int] | None) -> AnswerAtOnce | None:
        """Return the answer to what is asked from an address, or None."""
        ...


class BoundedHttp(HttpToolsProtocol):
    """One client's connection.

    Where the application has a shortcut, it is asked first. What it answers goes out as it is: a task and the messages
    of ASGI would cost more than all the rest; and a program that asks the same again sends the same bytes, which need
    not be parsed again.
    """

    most_head_bytes = 64 * 1024  # of the request line and headers; one read of the socket may go beyond
    longest_seconds = 30.0  # for a request to arrive, from the connection or the request's first byte to its last

    _under_way = False
    _in_head = True
    _head_bytes = 0
    _deadline: asyncio.TimerHandle | None = None
    _shortcut: Shortcut | None = None
    _asked: Any = None  # what the request under way says, when it was answered by the shortcut
    _answered: AnswerAtOnce | None = None
    _answered_at = 0.0  # on the loop's clock: the last answer by the shortcut
    _begun = 0  # requests in the piece that is taken in

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._shortcut = getattr(self.app, "shortcut", None)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._clear_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request."""
        between = not self._under_way
        if between and self._shortcut is not None and self._answer_known(data, self._shortcut):
            return
        self._unset_keepalive_if_required()
        self._begun, self._asked = 0, None
        try:
            self._parse(memoryview(data))
        except httptools.HttpParserError:
            self.send_400_response("")
        if between and self._begun == 1 and not self._under_way and self._shortcut and self._asked is not None:
            self._shortcut.learn(data, self._asked)
        # Most requests come whole and need no timer; line breaks alone are no request, but somebody waits for one.
        if self._deadline is None and (self._under_way or self._is_idle()):
            self._set_deadline()
        # What stands before a request in the same piece are whole requests, which may be many.
        self._head_bytes = self._head_bytes + len(data) if self._in_head and not self._begun else 0
        if self._head_bytes > self.most_head_bytes:
            self._refuse("431 Request Header Fields Too Large", "the request's headers are too long")

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        super().on_message_begin()
        self._under_way = self._in_head = True
        self._begun += 1
        self._clear_deadline()
        self._unset_keepalive_if_required()  # which a request in the same piece, answered at once, may have set

    def on_headers_complete(self) -> None:
        """Note that the headers are there."""
        if self.parser.should_upgrade():
            return
        self._answered = None if self._shortcut is None or self._is_busy() else self._at_once(self._shortcut)
        if self._answered is None:
            super().on_headers_complete()
        self._in_head = False

    def on_message_complete(self) -> None:
        """Note that the whole request is there."""
        if not self.parser.should_upgrade():
            self._under_way = False
            self._clear_deadline()
            if self._answered is None:
                super().on_message_complete()
            else:
                self._send(self._answered, keep_alive=self.parser.should_keep_alive())

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse("400 Bad Request", "the request is not valid HTTP")

    def _answer_known(self, data: bytes, shortcut: Shortcut) -> bool:
        """Answer a request whose very text is known; tell whether that was possible."""
        if not data.startswith(b"GET ") or self._is_busy():
            return False
        asked = shortcut.known(data)
        answered = None if asked is None else shortcut.at_once(asked, self.client)
        if answered is None:
            return False
        self._clear_deadline()
        self._send(answered, keep_alive=True)
        return True

    def _is_busy(self) -> bool:
        """Tell whether the client has to take another answer first."""
        return self.flow.write_paused or self._is_answering()

    def _at_once(self, shortcut: Shortcut) -> AnswerAtOnce | None:
        if self.parser.get_method() != b"GET" or self.parser.get_http_version() != "1.1":
            return None
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        told = {"method": "GET", "path": unquote(path) if "%" in path else path, "query_string": url.query or b""}
        asked = shortcut.read({**self.scope, **told})
        answered = None if asked is None else shortcut.at_once(asked, self.client)
        if answered is not None and self.parser.should_keep_alive():
            self._asked = asked
        return answered

    def _send(self, answered: AnswerAtOnce, *, keep_alive: bool) -> None:
        answer, own_headers = answered
        head = [STATUS_LINE[answer.status]]
        for name, value in (*self.server_state.default_headers, *own_headers):
            head += (name, b": ", value, b"\r\n")
        head += (answer.head, b"\r\n" if keep_alive else b"connection: close\r\n\r\n")
        self.transport.write(b"".join((*head, *answer.pieces)))  # copying costs less than a list of buffers
        self.server_state.total_requests += 1
        if not keep_alive:
            self.transport.close()
            return
        # One timer for many answers: setting and cancelling one for each would take a tenth of the whole time.
        self._answered_at = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self._close_if_idle)

    def _close_if_idle(self) -> None:
        left = self._answered_at + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self.timeout_keep_alive_task = self.loop.call_later(left, self._close_if_idle)
        else:
            self.timeout_keep_alive_handler()

    def _parse(self, data: memoryview) -> None:
        """Parse a piece, however many requests in it offer another protocol. Raises httptools.HttpParserError."""
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                self._start_anew_without_upgrade()
                data = data[offer.args[0] :]
            else:
                return

    def _start_anew_without_upgrade(self) -> None:
        """Read a request that offers another protocol as if it did not: the parser would take its body for that one.

        Java's client offers HTTP/2 with every request; HTTP lets a server ignore that (RFC 9110, section 7.8).
        """
        method = self.parser.get_method()
        if method == b"CONNECT":
            raise httptools.HttpParserError("this is no proxy")
        head = [method, b" ", self.url, b" HTTP/", self.parser.get_http_version().encode(), b"\r\n"]
        for name, value in self.headers:
            if name == b"connection":
                value = b", ".join(o for o in value.split(b",") if o.strip().lower() not in _UPGRADING)  # noqa: PLW2901
            if name not in _UPGRADING:
                head += [name, b": ", value, b"\r\n"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn: it is overlooked
        self.parser.feed_data(b"".join([*head, b"\r\n"]))

    def _is_answering(self) -> bool:
        """Tell whether an answer is being made or written, other than at once."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _is_idle(self) -> bool:
        return self.timeout_keep_alive_task is None and not self._is_answering()

    def _refuse(self, status: str, message: str) -> None:
        """Refuse the request that is being read and hang up; without a word where that would stand in an answer."""
        is_next = self._in_head or not self._under_way
        if self.transport.is_closing():
            return
        if self._is_answering() and (is_next or self.cycle.response_started):
            self.transport.close()
            return
        body = to_json(Error(message))
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n"
            f"X-Request-Id: {secrets.token_hex(8)}\r\nConnection: close\r\n"
        )
        standing = head_lines(getattr(self.app, "standing_headers", ()))
        self.transport.write(head.encode() + standing + b"\r\n" + body)
        self.transport.close()

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.longest_seconds, self.transport.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
