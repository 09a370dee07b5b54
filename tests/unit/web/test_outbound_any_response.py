"""Whatever a webhook's receiver sends back, the attempt ends with a status or a reason."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import damaged, fuzzed
from support.receiver import answering, receiving, sender
from tradecounter.edge.outbound_http import PostResponse

pytestmark = pytest.mark.sweep

GOOD = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 5\r\n\r\nok",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Away\r\nRetry-After: Tue, 16 Jun 2026 08:00:00 GMT\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
]
PIECES = [
    b"\r\n", b"\n", b"\r", b"\x00", b"\xff", b":", b" ", b"HTTP/1.1", b"HTTP/2", b"999", b"-1", b"0", b"f" * 17,
    b"chunked",
    b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: gzip\r\n",
    b"Upgrade: x\r\nConnection: upgrade\r\n",
    b"a" * 70_000, b"X: y\r\n" * 2000, b"1e9", b"Retry-After: ", b"\xc3", b"ICY 200 OK\r\n\r\n",
]  # fmt: skip


def attempt(response: bytes) -> PostResponse:
    async def run() -> PostResponse:
        async with receiving(answering(response)) as receiver:
            return await sender().post(receiver.url, {}, b"{}")

    return asyncio.run(run())


@fuzzed(150)
@given(st.data())
def test_any_response_is_a_status_or_a_reason(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(GOOD))
    outcome = attempt(data.draw(damaged(whole, st.sampled_from(PIECES) | st.binary(max_size=6))))
    assert (outcome.status is None) == bool(outcome.error)
    assert outcome.status is None or 200 <= outcome.status <= 999
    assert len(outcome.response) <= 2048
    assert "\x00" not in outcome.response
