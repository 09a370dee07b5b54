"""What is sent in one write is what uvicorn sends, byte by byte; and a head that waits is never sent in error."""

import asyncio
import gc
from collections.abc import Sequence
from typing import Any

import pytest
import uvloop
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from support.protocol import Served, serving
from tradecounter.sites.http.fast_path.protocol import FastPathProtocol

START = "http.response.start"
BODY = "http.response.body"
Sent = tuple[int, Sequence[tuple[bytes, bytes]], Sequence[bytes]]


class Sending(Served):
    """Sends the messages of a response; `ends` is how many, after which the application fails."""

    def __init__(self, sent: Sent, ends: int | None = None) -> None:
        super().__init__()
        self.sent = sent
        self.ends = ends

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        status, headers, parts = self.sent
        messages: list[Any] = [{"type": START, "status": status, "headers": [*headers]}]
        messages += [{"type": BODY, "body": part, "more_body": True} for part in parts[:-1]]
        messages.append({"type": BODY, "body": parts[-1]})
        for message in messages[: self.ends]:
            await send(message)
        if self.ends is not None:
            raise RuntimeError("the application fails")


class OfUvicorn(FastPathProtocol):
    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._responding = cycle
        HttpToolsProtocol._start_asgi_task(self, cycle, app)  # noqa: SLF001


def length(count: int) -> tuple[bytes, bytes]:
    return b"content-length", b"%d" % count


WHOLE: Sent = (200, [length(5), (b"x-a", b"1"), (b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")], [b"whole"])
RESPONSES: list[Sent] = [
    WHOLE,
    (404, [length(0)], [b""]),
    (200, [length(200_000)], [bytes(200_000)]),
    (200, [], [b"of unknown length"]),
    (200, [length(8)], [b"in ", b"parts"]),
    (200, [(b"transfer-encoding", b"chunked")], [b"in ", b"chunks"]),
    (200, [length(5), (b"connection", b"close")], [b"whole"]),
    (204, [], [b""]),
    (304, [(b"etag", b'"x"')], [b""]),
    (304, [length(0)], [b""]),
]
HEADS = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.0\r\nHost: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
]
LAST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def exchanged(app: Served, sent: bytes, protocol: type[FastPathProtocol] = FastPathProtocol) -> bytes:
    async def main() -> bytes:
        async with asyncio.timeout(20), serving(app, protocol) as server:
            reader, writer = await server.connect()
            writer.write(sent)
            return await reader.read(-1)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("sent", RESPONSES)
@pytest.mark.parametrize("head", HEADS)
def test_a_response_has_the_bytes_that_uvicorn_sends(head: bytes, sent: Sent) -> None:
    requests = head + LAST
    assert exchanged(Sending(sent), requests) == exchanged(Sending(sent), requests, OfUvicorn) != b""


@pytest.mark.parametrize(
    "sent",
    [
        (200, [length(5), (b"x-a", b"1\r\nx-b: 2")], [b"whole"]),
        (200, [length(5), (b"x a", b"1")], [b"whole"]),
        (200, [length(4)], [b"whole"]),
    ],
)
def test_what_no_response_may_be_is_not_sent_whole(sent: Sent) -> None:
    found = exchanged(Sending(sent), LAST)
    assert b"whole" not in found
    assert b"x-b" not in found


def test_nothing_of_a_response_is_left_for_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        exchanged(Sending(WHOLE), HEADS[0] * 50 + LAST)
        left = [each for each in gc.get_objects() if isinstance(each, RequestResponseCycle)]
    finally:
        gc.enable()
    assert len(left) <= 1  # that of the connection


def test_an_application_that_fails_after_a_head_sends_an_error() -> None:
    found = exchanged(Sending((200, [length(0)], [b""]), ends=1), LAST)
    assert found.startswith(b"HTTP/1.1 500 ")
    assert found.count(b"HTTP/1.1") == 1
