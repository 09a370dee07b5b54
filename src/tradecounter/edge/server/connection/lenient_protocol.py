"""Uvicorn's HTTP protocol, extended to requests that its parser misreads, and the checks of a request's head."""

import string
from collections.abc import Iterable
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tradecounter.edge.rest.responses import Header
from tradecounter.edge.server.connection.responses import HEAD_TOO_LONG, RejectedError

_LONGEST_TARGET = 65_535  # bytes; `httptools.parse_url` rejects more as invalid
_LONGEST_HOST = 255
_NO_HOST = bytes(_LONGEST_HOST + 1)
_UPGRADING = {b"upgrade", b"http2-settings"}

METHOD_BYTES = b"!#$%&'*+-.^_`|~" + (string.digits + string.ascii_letters).encode()  # RFC 9110, section 5.6.2
LONGEST_METHOD = 40  # bytes; the longest registered one has 17
PLACEHOLDER_METHOD = b"PATCH"  # no resource supports it


def is_method_error(error: httptools.HttpParserError) -> bool:
    """Return whether the parser rejected a method as unknown or as part of another protocol."""
    return isinstance(error, httptools.HttpParserInvalidMethodError) or str(error).startswith("Invalid method")


def check_head(headers: list[Header], parser: httptools.HttpRequestParser) -> None:
    """Check `Host` and `Transfer-Encoding`. Raises RejectedError."""
    by_name = dict(headers)
    if (
        len(by_name) == len(headers)
        and b"transfer-encoding" not in by_name
        and len(by_name.get(b"host", _NO_HOST)) <= _LONGEST_HOST
    ):
        return  # most requests
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) != 1 and (hosts or parser.get_http_version() == "1.1"):
        raise RejectedError("400 Bad Request", "Host: must be given exactly once")
    if hosts and len(hosts[0]) > _LONGEST_HOST:
        raise RejectedError("400 Bad Request", f"Host: must be at most {_LONGEST_HOST} bytes long")
    codings = b",".join(value for name, value in headers if name == b"transfer-encoding")
    if codings and any(coding.strip().lower() != b"chunked" for coding in codings.split(b",")):
        raise RejectedError("501 Not Implemented", "Transfer-Encoding: only chunked is supported")


def with_path(url: bytes) -> bytes:
    """Return a target with its path, `/` by default (RFC 9112, section 3.2.1). Raises httptools.HttpParserError."""
    parsed = httptools.parse_url(url)
    return url if parsed.path else b"/" + (b"?" + parsed.query if parsed.query else b"")


def head_without_upgrade(method: bytes, url: bytes, version: str, headers: Iterable[Header]) -> bytes:
    """Return a request's head without its upgrade offer."""
    lines = [method, b" ", url, b" HTTP/", version.encode(), b"\r\n"]
    for name, value in headers:
        if name == b"connection":
            options = [option for option in value.split(b",") if option.strip().lower() not in _UPGRADING]
            lines += [name, b": ", b", ".join(options), b"\r\n"]
        elif name not in _UPGRADING:
            lines += [name, b": ", value, b"\r\n"]
    return b"".join([*lines, b"\r\n"])


class LenientProtocol(HttpToolsProtocol):
    """A client's connection; subclasses call `parse` with received data."""

    # Slots: Python is slow with more than thirty attributes in `__dict__`, and uvicorn uses nearly thirty.
    __slots__ = ("_begun", "_head_decides", "_in_head", "_method", "_reading_method", "_start", "_under_way")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._under_way = False
        self._in_head = True
        self._head_decides = False  # whether another request may follow; depends on the head, not on the trailers
        self._start = b""  # of the current request, while only its method has arrived
        self._method = b""  # the current request's method, if the parser does not know it
        self._reading_method = False  # whether the rest of the method may still arrive
        self._begun = 0  # requests that began in the current data

    def parse(self, piece: bytes) -> None:
        """Parse received data; any number of its requests may offer an upgrade. Raises httptools.HttpParserError."""
        start, self._start = self._start + piece, b""
        has_start = len(start) > len(piece) or not self._under_way
        begun = self._begun if self._under_way else self._begun + 1
        if self._reading_method:
            piece = self._read_method(piece)
        while piece:
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade as upgrade:
                self._restart_without_upgrade()
                piece = piece[upgrade.args[0] :]
            except httptools.HttpParserError as error:
                if not (is_method_error(error) and has_start and self._begun == begun):
                    raise
                self._restart_with_placeholder_method()
                piece = self._read_method(start.lstrip(b"\r\n"))
            else:
                if has_start and len(start) <= LONGEST_METHOD and self._under_way and not self.url:
                    self._start = start
                return

    def on_headers_complete(self) -> None:
        """Start the response, unless the head is parsed again without its upgrade. Raises RejectedError."""
        if not self.parser.should_upgrade():
            if len(self.url) > _LONGEST_TARGET:
                raise HEAD_TOO_LONG
            if not self.url.startswith(b"/"):
                self.url = with_path(self.url)
            self.begin_response()
            self._in_head = False
            self.headers = []  # the parser adds trailers here, and nothing reads them

    def begin_response(self) -> None:
        """Start the application's response to a request whose head is complete."""
        super().on_headers_complete()
        if self._method:
            self.scope["method"] = self._method.decode()

    def on_chunk_header(self) -> None:
        """Keep the connection open after the request, even if its trailers have `Connection: close`."""
        if not self._head_decides and self.parser.should_keep_alive():
            self._let_the_head_decide(decides=True)

    def _let_the_head_decide(self, *, decides: bool) -> None:
        self._head_decides = decides
        self.parser.set_dangerous_leniencies(lenient_keep_alive=decides)

    def _restart_with_placeholder_method(self) -> None:
        """Parse a request with an unknown method under a method that no resource supports.

        The application receives the original method and responds with 405. Then the connection is closed: a proxy
        may disagree about where the request ends.
        """
        self._start_parser()
        self.parser.feed_data(PLACEHOLDER_METHOD)
        self._reading_method = True

    def _read_method(self, piece: bytes) -> bytes:
        """Read an unknown method and return the remaining data. Raises httptools.HttpParserError."""
        rest = piece.lstrip(METHOD_BYTES)
        self._method += piece[: len(piece) - len(rest)]
        self._reading_method = not rest
        if not self._method or len(self._method) > LONGEST_METHOD:
            raise httptools.HttpParserError("not a method")
        return rest

    def _restart_without_upgrade(self) -> None:
        """Parse a request without its upgrade offer, which would stop the parser before the body.

        Java's client offers HTTP/2 in every request; a server may ignore the offer (RFC 9110, section 7.8).
        """
        method = self.parser.get_method()
        if method == b"CONNECT":
            raise httptools.HttpParserError("this is no proxy")
        head = head_without_upgrade(method, self.url, self.parser.get_http_version(), self.headers)
        self._start_parser()
        self.parser.feed_data(head)

    def _start_parser(self) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # uvicorn does the same
