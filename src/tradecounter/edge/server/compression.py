"""Compresses responses by `Accept-Encoding`: zstd, br or gzip (RFC 9110, section 12.5.3).

The levels are cheap: for 92 KB of products, zstd takes 0.3 ms, gzip 0.6 ms and br 1 ms; higher levels cost several
times as much and save a few per cent.

An attacker who controls part of a request and sees the response's length can learn secrets from compression. Here the
attack would need requests with the victim's key, which browsers do not attach by themselves, or with the cookie of a
session, which they attach to no request of another site but to links that open a page. Pages contain no secrets.
"""

import asyncio
import zlib
from collections.abc import Callable
from typing import Protocol

import brotli
import zstandard
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.edge.rest.conditional import coded_tag
from tradecounter.edge.rest.negotiation import IDENTITY, SMALLEST_COMPRESSED, Coding, accepted_codings, choose_coding
from tradecounter.edge.rest.responses import Header

_COMPRESSIBLE = {
    b"application/feed+json", b"application/json", b"application/yaml", b"image/svg+xml", b"text/css", b"text/csv",
    b"text/html", b"text/javascript", b"text/markdown", b"text/plain",
}  # fmt: skip
_LARGE = 256 * 1024  # bytes; a thread compresses larger bodies, which would block other requests
_GZIP = 31  # zlib's name for the gzip format with the largest window
_ZSTD_LEVEL = 3
_UNKNOWN = -1

# The compressor of a long response exists until the client has read the response. By default, zstd needs 3.4 MB
# and br 4.9 MB; with these windows, 1.6 and 1.2 MB. A catalogue is compressed faster, and to the same length.
_WINDOW_BITS = 18
_MOST_AT_ONCE = 32  # compressors of long responses; further responses are not compressed


class _Compressor(Protocol):
    """Compresses a body chunk by chunk; may return nothing for a chunk."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


class _Brotli:
    """Brotli's compressor with the other compressors' method names."""

    def __init__(self, length: int) -> None:
        window = {"lgwin": _WINDOW_BITS} if length == _UNKNOWN else {}
        compressor = brotli.Compressor(quality=4, **window)
        self.compress = compressor.process
        self.flush = compressor.finish


def _zstd(length: int) -> _Compressor:
    if length == _UNKNOWN:
        parameters = zstandard.ZstdCompressionParameters.from_level(_ZSTD_LEVEL, window_log=_WINDOW_BITS)
        return zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compressobj(size=length)


# The argument is the body's length, which zstd writes into its header.
_COMPRESSORS: dict[Coding, Callable[[int], _Compressor]] = {
    "zstd": _zstd,
    "br": _Brotli,
    "gzip": lambda _: zlib.compressobj(1, wbits=_GZIP),
}


class Compression:
    """Middleware that compresses responses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way: set[_Compressing] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application and compress its response."""
        await self.call(self._app, scope, receive, send)

    async def call(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Call another application and compress its response."""
        compressing = _Compressing(scope, send, self._under_way)
        try:
            await app(scope, receive, compressing.send)
        finally:
            self._under_way.discard(compressing)


class _Compressing:
    """Compresses one response, whose start is sent with the first chunk of the body.

    `under_way` contains the long responses that are being compressed.
    """

    def __init__(self, scope: Scope, send: Send, under_way: set["_Compressing"]) -> None:
        self._scope = scope
        self._send = send
        self._under_way = under_way
        self._start: Message | None = None
        self._compressor: _Compressor | None = None

    async def send(self, message: Message) -> None:
        """Compress and send an ASGI message of the response."""
        if message["type"] == "http.response.start":
            message["headers"] = headers = [*message["headers"]]
            if _is_compressible(headers):
                self._start = message
                return
        if self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body", False):
                await self._compress_whole(start, message)
            elif len(self._under_way) < _MOST_AT_ONCE:
                self._compressor = self._begin(start, _UNKNOWN)
                if self._compressor is not None:
                    self._under_way.add(self)
            await self._send(start)
        if self._compressor is not None:
            message["body"] = self._compressor.compress(message.get("body", b""))
            if not message.get("more_body", False):
                message["body"] += self._compressor.flush()
            elif not message["body"]:
                return
        await self._send(message)

    async def _compress_whole(self, start: Message, message: Message) -> None:
        body = message.get("body", b"")
        compressor = None if len(body) < SMALLEST_COMPRESSED else self._begin(start, len(body))
        if compressor is None:
            return
        large = len(body) >= _LARGE
        message["body"] = await asyncio.to_thread(_whole, compressor, body) if large else _whole(compressor, body)
        MutableHeaders(scope=start)["Content-Length"] = str(len(message["body"]))

    def _begin(self, start: Message, length: int) -> _Compressor | None:
        return _begun(MutableHeaders(scope=start), accepted_codings(self._scope), length)


def compress_short(response: Response, accept_encoding: str) -> bool:
    """Compress a response as the middleware does; return False, and do nothing, if that would take too long."""
    body = bytes(response.body)
    if not _is_compressible(response.raw_headers) or len(body) < SMALLEST_COMPRESSED:
        return True
    if len(body) >= _LARGE and choose_coding(accept_encoding) != IDENTITY:
        return False
    compressor = _begun(response.headers, accept_encoding, len(body))
    if compressor is not None:
        response.body = _whole(compressor, body)
        response.headers["Content-Length"] = str(len(response.body))
    return True


def _begun(headers: MutableHeaders, accept_encoding: str, length: int) -> _Compressor | None:
    """Set the headers and return the compressor, or None if the client accepts no coding of ours."""
    coding = choose_coding(accept_encoding)
    if coding == IDENTITY:
        return None
    headers["Content-Encoding"] = coding
    if "etag" in headers:
        headers["ETag"] = coded_tag(headers["etag"], coding)
    return _COMPRESSORS[coding](length)


def _whole(compressor: _Compressor, body: bytes) -> bytes:
    return compressor.compress(body) + compressor.flush()


def _is_compressible(headers: list[Header]) -> bool:
    """Return whether a response with these headers may be compressed; if so, add `Accept-Encoding` to `Vary`."""
    by_name = dict(headers)
    media_type = by_name.get(b"content-type", b"").partition(b";")[0]
    if media_type not in _COMPRESSIBLE or b"content-encoding" in by_name:
        return False
    if b"vary" not in by_name:
        headers.append((b"vary", b"Accept-Encoding"))
    elif b"accept-encoding" not in by_name[b"vary"].lower():
        MutableHeaders(raw=headers).add_vary_header("Accept-Encoding")
    return True
