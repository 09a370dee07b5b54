"""Long responses, rendered chunk by chunk so that other requests run in between."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class ChunkedResponse(Response):
    """A response whose body is rendered as the client reads it, without a `Content-Length`.

    Of all responses that share a `lock`, one at a time renders a chunk; other tasks run after each chunk.
    """

    def __init__(
        self,
        chunks: Iterator[bytes] | AsyncGenerator[bytes, None],
        lock: asyncio.Lock,
        *,
        headers: Mapping[str, str],
        media_type: str,
    ) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers(headers)
        self._chunks = chunks if isinstance(chunks, AsyncGenerator) else _asynchronous(chunks)
        self._lock = lock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; a HEAD request renders no chunk. Raises ClientDisconnect."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        chunk: bytes | None = b""
        gone = asyncio.create_task(_until_gone(receive))
        try:
            async with aclosing(self._chunks):
                while chunk is not None:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    if gone.done():
                        raise ClientDisconnect from gone.exception()
                    chunk = None if scope["method"] == "HEAD" else await self._next()
        finally:
            gone.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _next(self) -> bytes | None:
        async with self._lock:
            await asyncio.sleep(0)
            return await anext(self._chunks, None)


async def _asynchronous(chunks: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
    for chunk in chunks:
        yield chunk


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
