"""Responses to clients of HTTP/1.0, such as nginx with its default settings.

They know no chunks, so a response has to state its length, and one that breaks off would else look complete. A response
of unknown length waits until it is whole: in memory up to a megabyte, beyond that in a temporary file.
"""

import asyncio
from tempfile import SpooledTemporaryFile

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.web.errors import response_to
from tradecounter.web.frame import REQUEST_ID

_MOST_IN_MEMORY = 1024 * 1024
_BLOCK = 128 * 1024


class WholeResponses:
    """An ASGI application around another one, whose responses to HTTP/1.0 always state their length."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. What fails before its response is whole is answered with an error."""
        if scope["type"] != "http" or scope["http_version"] != "1.0" or scope["method"] == "HEAD":
            await self._app(scope, receive, send)
            return
        with SpooledTemporaryFile(_MOST_IN_MEMORY) as file:
            collector = _Collector(file, send)
            try:
                await self._app(scope, receive, collector.send)
            except ClientDisconnect:
                raise
            except Exception as error:
                if not collector.collecting:
                    raise
                await response_to(error, Request(scope, receive), scope[REQUEST_ID])(scope, receive, send)


class _Collector:
    """Passes one response on: as it is when it states its length, else once it is whole."""

    def __init__(self, file: "SpooledTemporaryFile[bytes]", send: Send) -> None:
        self._file = file
        self._send = send
        self._start: Message | None = None

    @property
    def collecting(self) -> bool:
        """Whether nothing of the response has been sent."""
        return self._start is not None

    async def send(self, message: Message) -> None:
        """Take a part of the response. Raises OSError when there is no room for it."""
        if message["type"] == "http.response.start" and "content-length" not in MutableHeaders(scope=message):
            self._start = message
            return
        is_last = not message.get("more_body", False)
        if self._start is not None and is_last and not self._file.tell():  # without a body, such as 304
            start, self._start = self._start, None
            await self._send(start)
        if self._start is None:
            await self._send(message)
            return
        await asyncio.to_thread(self._file.write, message.get("body", b""))
        if is_last:
            await self._send_whole(self._start)

    async def _send_whole(self, start: Message) -> None:
        MutableHeaders(scope=start)["Content-Length"] = str(self._file.tell())
        self._start = None
        await self._send(start)
        self._file.seek(0)
        while block := await asyncio.to_thread(self._file.read, _BLOCK):
            await self._send({"type": "http.response.body", "body": block, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})
