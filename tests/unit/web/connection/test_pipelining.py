"""Pipelined requests: they wait their turn, take little room while they do, and end with their client."""

import asyncio
import gc
import logging
import socket
import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from support.protocol import Served, serving
from tradecounter.sites.http.fast_path.protocol import FastPathProtocol

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
MANY = 8_000


class Numbered(Served):
    """Responds with the request's number, as soon as `go` is set, in several messages."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.has_request = asyncio.Event()
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.paths.append(scope["path"])
        self.has_request.set()
        await receive()
        await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for piece in (b"", scope["path"].encode(), b"\n"):
            await send({"type": "http.response.body", "body": piece, "more_body": piece != b"\n"})
            await asyncio.sleep(0)


@pytest.fixture(params=list(LOOPS.values()), ids=list(LOOPS))
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    def run(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(asyncio.wait_for(main, 30))

    return run


def numbered(count: int) -> bytes:
    return b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(count))


@pytest.mark.sweep
def test_all_responses_are_sent_in_order(run: Callable[..., None]) -> None:
    async def main() -> None:
        app = Numbered()
        async with serving(app, FastPathProtocol) as server:
            reader, writer = await server.connect()
            app.go.set()
            writer.write(numbered(MANY) + b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            responses = await reader.read(-1)
        paths = [line for line in responses.splitlines() if line.startswith(b"/")]
        assert paths == [b"/%d" % number for number in range(MANY)] + [b"/last"]

    run(main())


def test_few_are_taken_in_before_their_turn(run: Callable[..., None]) -> None:
    async def main() -> None:
        app = Numbered()
        async with serving(app, FastPathProtocol) as server:
            _, writer = await server.connect()
            writer.write(numbered(MANY))
            await app.has_request.wait()
            await asyncio.sleep(0.1)
            gc.collect()
            waiting = sum(isinstance(found, RequestResponseCycle) for found in gc.get_objects())
            assert waiting <= 4096 / len(numbered(1)) + 1
            assert app.paths == ["/0"]
            app.go.set()

    run(main())


def test_a_body_behind_others_arrives_whole(run: Callable[..., None]) -> None:
    class Echo(Served):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            body, more = b"", True
            while more:
                message = await receive()
                body, more = body + message.get("body", b""), message.get("more_body", False)
            await asyncio.sleep(0.001)
            await PlainTextResponse(body)(scope, receive, send)

    async def main() -> None:
        async with serving(Echo(), FastPathProtocol) as server:
            reader, writer = await server.connect()
            for number in range(5):
                body = b"%d" % number * 300_000
                writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            for number in range(5):
                await reader.readuntil(b"\r\n\r\n")
                assert await reader.readexactly(300_000) == b"%d" % number * 300_000

    run(main())


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("count", [2, 3, MANY])
def test_a_client_that_vanishes_ends_its_requests_without_a_trace(
    run: Callable[..., None], count: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        app = Numbered()
        async with serving(app, FastPathProtocol) as server:
            _, writer = await server.connect()
            writer.write(numbered(count))
            await app.has_request.wait()
            made: socket.socket = writer.get_extra_info("socket")
            made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # as when a machine dies
            writer.transport.abort()
            app.go.set()  # a client that is not read from is missed when something is sent to it
            await server.is_quiet()

    with caplog.at_level(logging.WARNING):
        run(main())
    assert not caplog.records
