"""Long responses are compressed while few of them are under way, whose clients may take their time."""

import asyncio
import zlib

import pytest
from starlette.types import Message, Receive, Scope, Send

from tradecounter.edge.server.compression import Compression

MOST = 32
PIECES = [b"one,two\r\n" * 100] * 3


async def long_response(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/csv")]})
    for piece in PIECES:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


class Client:
    """Takes the head of a response, and the rest when it is allowed to."""

    def __init__(self, app: Compression, coding: bytes = b"gzip") -> None:
        self.reads = asyncio.Event()
        self.coding = b""
        self.body = b""
        scope = {"type": "http", "headers": [(b"accept-encoding", coding)]}
        self.task = asyncio.create_task(app(scope, self.receive, self.send))

    async def receive(self) -> Message:
        raise AssertionError("the response must not read the request")

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.coding = dict(message["headers"]).get(b"content-encoding", b"")
            await self.reads.wait()
        else:
            self.body += message["body"]


@pytest.mark.parametrize("breaks_off", [False, True])
def test_beyond_some_they_go_out_as_they_are_until_others_have_ended(breaks_off: bool) -> None:
    async def main() -> None:
        app = Compression(long_response)
        clients = [Client(app) for _ in range(MOST + 8)]
        await asyncio.sleep(0)
        assert [client.coding for client in clients] == [b"gzip"] * MOST + [b""] * 8
        for client in clients:
            client.reads.set()
            if breaks_off:
                client.task.cancel()
        await asyncio.wait([client.task for client in clients])
        if not breaks_off:
            assert all(client.body == b"".join(PIECES) for client in clients[MOST:])
            assert all(zlib.decompress(client.body, 31) == b"".join(PIECES) for client in clients[:MOST])
        later = Client(app)
        await asyncio.sleep(0)
        assert later.coding == b"gzip"
        later.task.cancel()

    asyncio.run(main())


def test_what_is_not_compressed_takes_no_place() -> None:
    async def main() -> None:
        app = Compression(long_response)
        clients = [Client(app, b"identity") for _ in range(MOST)] + [Client(app)]
        await asyncio.sleep(0)
        assert clients[-1].coding == b"gzip"
        for client in clients:
            client.task.cancel()

    asyncio.run(main())
