"""Responses of unknown length to clients of HTTP/1.0: whole, and bounded together however slowly they are taken."""

import asyncio
from typing import Any

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from support.waiting import happened
from tradecounter.edge.server.client_address import ClientAddresses
from tradecounter.sites.http.request_context import context_of
from tradecounter.sites.http.whole_responses import WholeResponses

PIECE = bytes(1000)


class Making:
    """Makes a body of ten pieces; notes how many there are that were made and not yet sent."""

    def __init__(self) -> None:
        self.made = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/short":
            await PlainTextResponse("short")(scope, receive, send)
            return
        if scope["path"] == "/unchanged":
            await Response(status_code=304, headers={"ETag": '"x"'})(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(10):
            if scope["path"] == "/broken" and number == 5:
                raise RuntimeError("half-way")
            self.made += 1
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})


class Client:
    """Takes a response, one message at a time, once it is allowed to."""

    def __init__(self, app: WholeResponses, path: str = "/", version: str = "1.0", method: str = "GET") -> None:
        self.reads = asyncio.Event()
        self.messages: list[Message] = []
        scope: dict[str, Any] = {"type": "http", "http_version": version, "method": method, "path": path}
        scope |= {"headers": [(b"x-request-id", b"r-1")], "query_string": b"", "client": None}
        context_of(scope, ClientAddresses(None))
        self.task = asyncio.create_task(app(scope, self.receive, self.send))

    async def receive(self) -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        self.messages.append(message)

    async def all(self) -> "Client":
        self.reads.set()
        await self.task
        return self

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.messages[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages[1:])


def run(main: Any) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(10):
            await main()

    asyncio.run(in_time())


@pytest.mark.parametrize(
    ("version", "method", "length"), [("1.0", "GET", b"10000"), ("1.1", "GET", None), ("1.0", "HEAD", None)]
)
def test_only_a_client_that_knows_no_chunks_gets_the_length(version: str, method: str, length: bytes | None) -> None:
    async def main() -> None:
        client = await Client(WholeResponses(Making()), version=version, method=method).all()
        assert client.headers.get(b"content-length") == length
        assert client.body == PIECE * 10

    run(main)


def test_a_response_of_known_length_or_without_a_body_never_waits() -> None:
    async def main() -> None:
        making = Making()
        app = WholeResponses(making, most_bytes=1)
        Client(app)
        await happened(lambda: making.made)
        assert (await Client(app, "/short").all()).body == b"short"
        unchanged = await Client(app, "/unchanged").all()
        assert (unchanged.status, unchanged.headers) == (304, {b"etag": b'"x"'})

    run(main)


def test_while_too_much_is_not_taken_no_more_is_made() -> None:
    async def main() -> None:
        making = Making()
        app = WholeResponses(making, most_bytes=15_000)
        clients = [Client(app) for _ in range(10)]
        await happened(lambda: making.made == 28)
        await asyncio.sleep(0.05)
        assert making.made == 20 + 8, "two bodies, and of each other client the piece that waits for its turn"
        for client in clients:
            assert (await client.all()).body == PIECE * 10

    run(main)


def test_a_request_that_waits_too_long_gets_retry_after() -> None:
    async def main() -> None:
        making = Making()
        app = WholeResponses(making, most_bytes=5_000, longest_wait=0.1)
        first = Client(app)
        await happened(lambda: making.made == 10)
        second = await Client(app).all()
        assert second.status == 503
        assert second.headers[b"retry-after"] == b"5"
        assert (await first.all()).body == PIECE * 10
        assert (await Client(app).all()).body == PIECE * 10

    run(main)


@pytest.mark.parametrize("cancelled", [False, True])
def test_an_interrupted_response_releases_its_memory(cancelled: bool) -> None:
    async def main() -> None:
        making = Making()
        app = WholeResponses(making, most_bytes=5_000, longest_wait=0.1)
        for _ in range(3):
            making.made = 0
            client = Client(app, "/" if cancelled else "/broken")
            if cancelled:
                await happened(lambda: making.made == 10)
                client.task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await client.task
            else:
                assert (await client.all()).status == 500
        assert (await Client(app).all()).body == PIECE * 10

    run(main)
