"""Uvicorn's protocol class with limits and a fast path for cached responses.

It writes cached responses directly, because ASGI's task and messages would cost more than all other work. It does not
parse a request whose bytes are in the head cache.
"""

import asyncio
import time
from typing import Any, cast
from urllib.parse import unquote

import httptools
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tradecounter.edge.server.connection.bounded_protocol import BoundedProtocol
from tradecounter.edge.server.connection.lenient_protocol import check_head
from tradecounter.identity.admission import SENDER
from tradecounter.sites.http.fast_path.middleware import FastResponse, ResponseCacheMiddleware
from tradecounter.sites.http.request_context import RequestContext
from tradecounter.sites.http.request_head import RequestHead

# Bytes of a body that is copied behind its head; a longer copy would cost more than a second buffer.
_MOST_COPIED = 32 * 1024


class FastPathProtocol(BoundedProtocol):
    """A client's connection; tries the application's `fast_path` first, if it has one."""

    __slots__ = ("_began", "_context", "_fast_path", "_head", "_responded_at", "_responding_to", "_response")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._fast_path: ResponseCacheMiddleware | None = None
        self._context: RequestContext | None = None  # of a request with a cached head but without a cached response
        self._head: RequestHead | None = None  # of the current request
        self._response: FastResponse | None = None  # the cached response to the current request
        self._responding_to: RequestContext | None = None  # of the request of `_response`
        self._began = 0.0  # when the request of `_response` was handled first, in seconds of the performance counter
        self._responded_at = 0.0  # time of the last response from the fast path, on the loop's clock

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        if not self._stopping.is_set():
            self._fast_path = getattr(self.app, "fast_path", None)

    def announce_end(self) -> None:
        """Disable the fast path: the application's next response closes the connection."""
        self._fast_path = None
        super().announce_end()

    def data_received(self, data: bytes) -> None:
        """Respond to a request with a cached head, or else parse the data."""
        is_between = not self._under_way
        self._context = self._head = None
        if is_between and self._fast_path is not None and self._respond_unparsed(data, self._fast_path):
            return
        super().data_received(data)
        if is_between and self._begun == 1 and not self._under_way and self._fast_path and self._head is not None:
            self._fast_path.add_head(data, self._head)

    def begin_response(self) -> None:
        """Find the response to a request whose head is complete, or else start the application's.

        Raises RejectedError for an invalid head.
        """
        self._response = None
        check_head(self.headers, self.parser)
        context, self._context = self._context, None
        if self._fast_path is not None and context is None and not self._is_busy():
            context = self._respond(self._fast_path)
        self._responding_to = context
        if self._response is None:
            if context is not None:
                cast("Scope", self.scope)[SENDER] = context
            super().begin_response()

    def end_request(self) -> None:
        """Write the cached response, or notify the application that the request is complete."""
        if self._response is None:
            super().end_request()
        else:
            self._write(self._response, keep_alive=self.parser.should_keep_alive())
            count_sent = self.app.fast_path.count_sent  # `self._fast_path` may be None meanwhile
            count_sent(self._response.counted_as("fast_path"), self._responding_to, time.perf_counter() - self._began)

    def _respond_unparsed(self, data: bytes, fast_path: ResponseCacheMiddleware) -> bool:
        """Respond to an unparsed request if possible; return whether it was."""
        if not data.startswith(b"GET ") or self._is_busy():
            return False
        began = time.perf_counter()
        head = fast_path.find_head(data)
        if head is None:
            return False
        context = fast_path.context(head, self.client)
        response = fast_path.respond(context)
        if response is None:
            self._context = context
            return False
        self._clear_deadline()
        self._write(response, keep_alive=True)
        fast_path.count_sent(response.counted_as("known_bytes"), context, time.perf_counter() - began)
        return True

    def _is_busy(self) -> bool:
        """Return whether another response must be sent or read first."""
        return self.flow.write_paused or self._is_responding()

    def _respond(self, fast_path: ResponseCacheMiddleware) -> RequestContext | None:
        """Find the cached response to a request whose head is complete; return its context if it was read."""
        if self.parser.get_method() != b"GET" or self.parser.get_http_version() != "1.1":
            return None
        self._began = time.perf_counter()
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        target = {"method": "GET", "path": unquote(path) if "%" in path else path, "query_string": url.query or b""}
        head = fast_path.read_head({**self.scope, **target})
        if head is None:
            return None
        context = fast_path.context(head, self.client)
        self._response = fast_path.respond(context)
        if self._response is not None and self.parser.should_keep_alive():
            self._head = head
        return context

    def _write(self, response: FastResponse, *, keep_alive: bool) -> None:
        cached = response.cached
        head = [STATUS_LINE[cached.status]]
        for name, value in (*self.server_state.default_headers, *response.own_headers):
            head += (name, b": ", value, b"\r\n")
        head += (cached.head, b"\r\n" if keep_alive else b"connection: close\r\n\r\n")
        (body,) = cached.blocks
        if len(body) <= _MOST_COPIED:
            self.transport.write(b"".join((*head, body)))
        else:
            self.transport.writelines((b"".join(head), body))
        self.server_state.total_requests += 1
        if not keep_alive:
            self.transport.close()
            return
        # One timer for many responses: a timer per response would take a tenth of the total time.
        self._responded_at = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self._close_if_idle)

    def _close_if_idle(self) -> None:
        left = self._responded_at + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self.timeout_keep_alive_task = self.loop.call_later(left, self._close_if_idle)
        else:
            self.timeout_keep_alive_handler()
