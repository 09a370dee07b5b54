"""Long answers, made a piece at a time so that other requests need not wait for the whole."""

import asyncio
from collections.abc import Iterator, Mapping

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class PiecewiseResponse(Response):
    """A response whose body is made while it is sent, and no faster than the client takes it; its length is not told.

    Responses that share a `turn` make one piece at a time between them, and after each whatever else waits is done.
    """

    def __init__(
        self, pieces: Iterator[bytes], turn: asyncio.Lock, *, headers: Mapping[str, str], media_type: str
    ) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers(headers)
        self._pieces = pieces
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; of one to HEAD, no piece is made. Raises ClientDisconnect."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        piece: bytes | None = b""
        gone = asyncio.create_task(_until_gone(receive))
        try:
            while piece is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                if gone.done():
                    raise ClientDisconnect
                piece = None if scope["method"] == "HEAD" else await self._next()
        finally:
            gone.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _next(self) -> bytes | None:
        async with self._turn:
            await asyncio.sleep(0)
            return next(self._pieces, None)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
