"""How long a client may take to send a request, and what becomes of what it sends at the wrong moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from support.protocol import Remembering, Served, serving
from tradecounter.sites.http.fast_path.protocol import FastPathProtocol

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Hasty(FastPathProtocol):
    longest_seconds = 0.2


class Slow(Served):
    """A response that takes longer than a request may."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.4)
        await PlainTextResponse("done")(scope, receive, send)


class SlowOrKnown(Remembering):
    """Responds to `/known` on the fast path, and to anything else slowly in two pieces; records the paths."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.paths.append(scope["path"])
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"8")]})
        await send({"type": "http.response.body", "body": b"not ", "more_body": True})
        await asyncio.sleep(0.1)
        await send({"type": "http.response.body", "body": b"done"})


def get(path: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([b"GET " + path + b" HTTP/1.1", b"Host: x", *headers, b"", b""])


@asynccontextmanager
async def connection(
    app: Served, keep_alive: int = 5
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with serving(app, Hasty, keep_alive) as server:
        reader, writer = await server.connect()
        yield reader, writer
        writer.close()


def sent_slowly(*pieces: bytes) -> bytes:
    """What comes back when the pieces are sent one after the other with pauses."""

    async def send() -> bytes:
        received = b""
        async with asyncio.timeout(10), connection(Slow()) as (reader, writer):
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


@pytest.mark.sweep
def test_a_request_in_pieces_gets_a_response_that_may_take_its_time() -> None:
    assert sent_slowly(WHOLE[:10], WHOLE[10:]).startswith(b"HTTP/1.1 200 OK")


def exchange(app: SlowOrKnown, *pieces: bytes, keep_alive: int = 5) -> bytes:
    """All that comes back until the server hangs up."""

    async def send() -> bytes:
        async with asyncio.timeout(10), connection(app, keep_alive) as (reader, writer):
            for piece in pieces:
                writer.write(piece)
                await asyncio.sleep(0.03)
            return await reader.read()

    return asyncio.run(send())


@pytest.mark.sweep
@pytest.mark.parametrize("path", [b"/known", b"/other"])
@pytest.mark.parametrize("headers", [(b"Connection: close",), (b"Connection: close, Upgrade", b"Upgrade: h2c")])
def test_what_is_sent_behind_the_last_request_is_not_done(path: bytes, headers: tuple[bytes, ...]) -> None:
    app = SlowOrKnown()
    responses = exchange(app, get(path, *headers) + get(b"/order") + get(b"/known"))
    assert responses.startswith(b"HTTP/1.1 200")
    assert responses.count(b"HTTP/1.1") == 1
    assert "/order" not in app.paths


def test_a_response_may_take_longer_than_an_idle_connection() -> None:
    responses = exchange(SlowOrKnown(), get(b"/known") + get(b"/slow", b"Connection: close"), keep_alive=0)
    assert responses.endswith(b"not done")


@pytest.mark.sweep
@pytest.mark.parametrize("apart", [False, True])
def test_an_error_follows_the_responses_before_it(apart: bool) -> None:
    pieces = [get(b"/slow") * 2, b"\x00\r\n\r\n"]
    responses = exchange(SlowOrKnown(), *(pieces if apart else [b"".join(pieces)]))
    assert responses.count(b"not done") == 2
    assert responses.rindex(b"not done") < responses.index(b"HTTP/1.1 400")


@pytest.mark.sweep
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("before", [1, 2])
def test_a_broken_body_is_rejected_after_the_responses_before_it(before: int, apart: bool) -> None:
    head = b"POST /slow HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = [get(b"/slow") * before + head, b"no chunk"]
    responses = exchange(SlowOrKnown(), *(pieces if apart else [b"".join(pieces)]))
    assert responses.count(b"not done") == before
    assert responses.rindex(b"not done") < responses.index(b"HTTP/1.1 400")
    assert responses.endswith(b'{"message":"the request is not valid HTTP","code":"invalid"}')


@pytest.mark.sweep
def test_a_request_that_has_its_response_gets_no_error_as_well() -> None:
    head = b"POST /slow HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    responses = exchange(SlowOrKnown(), head + b"1\r\nx\r\n", b"", b"", b"", b"", b"no chunk")
    assert responses.endswith(b"not done")


def test_an_error_follows_a_fast_path_response() -> None:
    responses = exchange(SlowOrKnown(), get(b"/known") + b"\x00\r\n\r\n")
    assert responses.index(b"known.") < responses.index(b"HTTP/1.1 400")


@pytest.mark.sweep
def test_line_breaks_alone_keep_no_connection() -> None:
    assert exchange(SlowOrKnown(), get(b"/known"), b"\r\n").endswith(b"known.")


@pytest.mark.sweep
def test_many_requests_in_one_piece_are_no_long_head() -> None:
    many = get(b"/known") * 4000
    responses = exchange(SlowOrKnown(), many + many[:10], many[10 : len(get(b"/known"))], keep_alive=1)
    assert b"431" not in responses
    assert responses.count(b"known.") == 4001


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("pieces", "is_known_heads"),
    [
        ([get(b"/known")], True),
        ([get(b"/known")[:9], get(b"/known")[9:]], False),
        ([get(b"/known") * 2], False),
        ([get(b"/known") + b"GET"], False),
        ([get(b"/known", b"Connection: close")], False),
        ([get(b"/slow", b"Connection: close")], False),
    ],
    ids=["whole", "in two pieces", "two", "one and the beginning of another", "the last one", "not at hand"],
)
def test_only_a_whole_request_alone_is_known_heads_by_its_text(pieces: list[bytes], is_known_heads: bool) -> None:
    app = SlowOrKnown()
    exchange(app, *pieces, keep_alive=0)
    assert list(app.known_heads) == ([pieces[0]] if is_known_heads else [])
