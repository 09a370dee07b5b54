"""Uvicorn's HTTP protocol with bounds on what a client can make it hold, and errors that look like all others.

Uvicorn alone would collect an endless header in memory, and wait forever for a request that never ends.
"""

import asyncio
import secrets

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tradecounter.rest.answers import Error, to_json
from tradecounter.rest.negotiation import JSON

_UPGRADING = {b"upgrade", b"http2-settings"}


class BoundedHttp(HttpToolsProtocol):
    """One client's connection."""

    most_head_bytes = 64 * 1024  # of the request line and headers; one read of the socket may go beyond
    longest_seconds = 30.0  # for a request to arrive, from the connection or the request's first byte to its last

    _in_head = True
    _head_bytes = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._clear_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request."""
        self._unset_keepalive_if_required()
        try:
            self._parse(memoryview(data))
        except httptools.HttpParserError:
            self.send_400_response("")
        self._head_bytes = self._head_bytes + len(data) if self._in_head else 0
        if self._head_bytes > self.most_head_bytes:
            self._refuse("431 Request Header Fields Too Large", "the request's headers are too long")

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        super().on_message_begin()
        self._in_head = True
        self._set_deadline()

    def on_headers_complete(self) -> None:
        """Note that the headers are there."""
        self._in_head = False
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that the whole request is there."""
        if not self.parser.should_upgrade():
            self._clear_deadline()
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse("400 Bad Request", "the request is not valid HTTP")

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
        self.parser.feed_data(b"".join([*head, b"\r\n"]))

    def _refuse(self, status: str, message: str) -> None:
        body = to_json(Error(message))
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n"
            f"X-Request-Id: {secrets.token_hex(8)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _set_deadline(self) -> None:
        self._clear_deadline()
        self._deadline = self.loop.call_later(self.longest_seconds, self.transport.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
