"""How long a client may take to send a request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tradecounter.web.http_protocol import BoundedHttp
from tradecounter.web.server import listen

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Hasty(BoundedHttp):
    longest_seconds = 0.2


async def slow_answer(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer that takes longer than a request may."""
    await asyncio.sleep(0.4)
    await PlainTextResponse("done")(scope, receive, send)


@asynccontextmanager
async def connection() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(slow_answer, http=Hasty, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener.socket])
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.socket.getsockname()[1])
    try:
        yield reader, writer
    finally:
        writer.close()
        await server.shutdown(sockets=[listener.socket])


def sent_slowly(*pieces: bytes) -> bytes:
    """What comes back when the pieces are sent one after the other with pauses."""

    async def send() -> bytes:
        received = b""
        async with asyncio.timeout(10), connection() as (reader, writer):
            for piece in pieces:
                writer.write(piece)
                await asyncio.sleep(0.08)
            while not received.endswith(b"done") and (piece := await reader.read(65536)):
                received += piece
        return received

    return asyncio.run(send())


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [b"GET / HTTP/1.1\r\nHost: x\r\n"],
        [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", b"half"],
        [b"G", b"E", b"T", b" "],
    ],
    ids=["nothing", "half a head", "half a body", "a byte at a time"],
)
def test_a_request_that_does_not_end_is_cut_off(pieces: list[bytes]) -> None:
    assert sent_slowly(*pieces) == b""


def test_a_request_in_pieces_is_answered_and_the_answer_may_take_its_time() -> None:
    assert sent_slowly(WHOLE[:10], WHOLE[10:]).startswith(b"HTTP/1.1 200 OK")
