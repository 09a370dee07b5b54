"""However requests are cut into pieces and mixed on a connection, each gets its own response, in order."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from support.protocol import Remembering, Server, serving
from tradecounter.sites.http.fast_path.protocol import FastPathProtocol


class Echo(Remembering):
    """Responds with the path, the number of headers and the body; `/known` on the fast path where possible."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            assert message["type"] == "http.request"
            body, more = body + message["body"], message["more_body"]
        text = b"%b %d %b" % (scope["path"].encode(), len(scope["headers"]), body)
        await PlainTextResponse(b"known." if scope["path"] == "/known" else text)(scope, receive, send)


@dataclass(frozen=True)
class Request:
    data: bytes
    response: bytes


def with_length(body: bytes) -> Request:
    head = b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    return Request(head % len(body) + body, b"/length 2 " + body)


def in_chunks(chunks: list[bytes], trailer: bytes, trailers: int, extension: bytes) -> Request:
    head = b"PUT /chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"".join(b"%x%b\r\n%b\r\n" % (len(chunk), extension, chunk) for chunk in chunks)
    end = b"0%b\r\n" % extension + b"%b\r\n" % trailer * trailers + b"\r\n"
    return Request(head + body + end, b"/chunks 2 " + b"".join(chunks))


OFFER = b"GET /offer HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: A\r\n\r\n"
KNOWN = Request(b"GET /known HTTP/1.1\r\nHost: x\r\n\r\n", b"known.")
REQUESTS = st.one_of(
    st.just(KNOWN),
    st.just(Request(b"GET /plain HTTP/1.1\r\nHost: x\r\n\r\n", b"/plain 1 ")),
    st.just(Request(b"\r\nGET /break HTTP/1.1\r\nHost: x\r\n\r\n", b"/break 1 ")),
    st.just(Request(OFFER, b"/offer 2 ")),
    st.builds(with_length, st.binary(max_size=9000)),
    st.builds(
        in_chunks,
        st.lists(st.binary(min_size=1, max_size=3000), max_size=5),
        st.sampled_from([b"X-Api-Key: trailer", b"Connection: close", b"Connection: Upgrade\r\nUpgrade: h2c"]),
        st.integers(0, 300),
        st.sampled_from([b"", b";name", b';name="value"']),
    ),
)


async def responses(server: Server, data: list[bytes], count: int) -> list[bytes]:
    async with asyncio.timeout(20):
        reader, writer = await server.connect()
        for piece in data:
            writer.write(piece)
            await asyncio.sleep(0)
        found = []
        for _ in range(count):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            found.append(await reader.readexactly(length))
        writer.close()
        return found


@pytest.mark.sweep
@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_each_request_gets_its_own_response_in_order(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    stack = AsyncExitStack()
    with asyncio.Runner(loop_factory=loop) as runner:
        server = runner.run(stack.enter_async_context(serving(Echo(), FastPathProtocol)))

        @settings(max_examples=100, deadline=None)
        @given(requests=st.lists(REQUESTS, min_size=1, max_size=12), data=st.data())
        def check(requests: list[Request], data: st.DataObject) -> None:
            whole = b"".join(request.data for request in requests)
            cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
            pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
            found = runner.run(responses(server, pieces, len(requests)))
            assert found == [request.response for request in requests]

        check()
        runner.run(stack.aclose())


@pytest.mark.parametrize(
    "body", [b"\r\n", b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"], ids=["none", "chunked"]
)
def test_nothing_is_sent_after_the_response_to_a_request_that_ends_the_connection(body: bytes) -> None:
    chunked = in_chunks([b"a"], b"Connection: keep-alive", 1, b"")
    last = b"POST /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + body

    async def received() -> bytes:
        async with serving(Echo(), FastPathProtocol) as server, asyncio.timeout(20):
            reader, writer = await server.connect()
            writer.write(chunked.data + last + KNOWN.data + chunked.data)
            return await reader.read()

    assert asyncio.run(received()).count(b"HTTP/1.1 200") == 2
