"""Collects response bodies for HTTP/1.0 clients, which need the body's length in advance."""

import asyncio
from collections import deque

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.edge.rest.responses import error_response
from tradecounter.kit.errors import Code
from tradecounter.kit.tasks import Seldom
from tradecounter.sites.http.errors import response_to
from tradecounter.sites.http.request_context import request_id_of

_LONGEST_WAIT = 30.0  # seconds
_RETRY_SECONDS = 5


class WholeResponses:
    """Middleware that collects a response's chunks into one body for HTTP/1.0 clients.

    It collects one body at a time, and only while all unread bodies together have fewer than `most_bytes`.
    """

    def __init__(self, app: ASGIApp, most_bytes: int = 64 * 1024 * 1024, longest_wait: float = _LONGEST_WAIT) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._longest_wait = longest_wait
        self._lock = asyncio.Lock()
        self._room = asyncio.Event()
        self._room.set()
        self._bytes = 0
        self._outages = Seldom()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application; respond with 503 when another collection takes too long.

        If the request fails before the body is complete, the client gets only the error.
        """
        if scope["type"] != "http" or scope["http_version"] != "1.0" or scope["method"] == "HEAD":
            await self._app(scope, receive, send)
            return
        whole = _Whole(self, send)
        try:
            await self._app(scope, receive, whole.send)
        except TimeoutError:
            if not whole.waits:
                raise
            message = f"too many long responses at the same time; try again in {_RETRY_SECONDS} seconds"
            response = error_response(message, Code.UNAVAILABLE, 503, {"Retry-After": str(_RETRY_SECONDS)})
            await response(scope, receive, send)
        except ClientDisconnect:
            raise
        except Exception as error:
            if not whole.is_collecting:
                raise
            whole.end()
            await response_to(error, Request(scope, receive), request_id_of(scope), self._outages)(scope, receive, send)
        finally:
            whole.end()

    async def begin(self) -> None:
        """Wait for permission to collect a body; the caller must call `end` later. Raises TimeoutError."""
        async with asyncio.timeout(self._longest_wait):
            await self._lock.acquire()
            try:
                await self._room.wait()
            except BaseException:
                self._lock.release()
                raise

    def end(self) -> None:
        """Allow the next collection to begin."""
        self._lock.release()

    def count(self, size: int) -> None:
        """Add collected bytes to the total; a negative size subtracts sent bytes."""
        self._bytes += size
        if self._bytes < self._most_bytes:
            self._room.set()
        else:
            self._room.clear()


class _Whole:
    """One response; its body is collected unless the length is known."""

    def __init__(self, responses: WholeResponses, send: Send) -> None:
        self._responses = responses
        self._send = send
        self._start: Message | None = None
        self._pieces: deque[bytes] = deque()
        self.is_collecting = False
        self.waits = False

    async def send(self, message: Message) -> None:
        """Send or collect an ASGI message. Raises TimeoutError when another collection takes too long."""
        if message["type"] == "http.response.start" and "content-length" not in MutableHeaders(scope=message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            await self._collect(self._start, message)

    async def _collect(self, start: Message, message: Message) -> None:
        is_last = not message.get("more_body", False)
        if is_last and not self.is_collecting:  # without a body, such as 304
            self._start = None
            await self._send(start)
            await self._send(message)
            return
        if not self.is_collecting:
            self.waits = True
            await self._responses.begin()
            self.waits, self.is_collecting = False, True
        self._pieces.append(message.get("body", b""))
        self._responses.count(len(self._pieces[-1]))
        if is_last:
            self._start, self.is_collecting = None, False
            self._responses.end()
            await self._send_all(start)

    async def _send_all(self, start: Message) -> None:
        MutableHeaders(scope=start)["Content-Length"] = str(sum(map(len, self._pieces)))
        await self._send(start)
        while self._pieces:
            await self._send({"type": "http.response.body", "body": self._pieces[0], "more_body": True})
            self._responses.count(-len(self._pieces.popleft()))
            await asyncio.sleep(0)  # otherwise a fast client would block all others
        await self._send({"type": "http.response.body", "body": b""})

    def end(self) -> None:
        """Discard the collected bytes after the response was sent or failed."""
        if self.is_collecting:
            self.is_collecting = False
            self._responses.end()
        self._responses.count(-sum(map(len, self._pieces)))
        self._pieces.clear()
