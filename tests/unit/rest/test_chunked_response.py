"""Long responses take turns, follow the pace of their reader, and end when the client is gone."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, MutableMapping
from itertools import pairwise
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from tradecounter.edge.rest.responses import ChunkedResponse

Message = MutableMapping[str, Any]
Pieces = Iterator[bytes] | AsyncGenerator[bytes, None]


CLOSED = -1
SCOPE = {"type": "http", "http_version": "1.1", "method": "GET"}


def response(pieces: Pieces, turn: asyncio.Lock) -> ChunkedResponse:
    return ChunkedResponse(pieces, turn, headers={"A": "1"}, media_type="text/csv")


def numbered(made: list[int], name: int = 0) -> Iterator[bytes]:
    for number in range(50):
        made.append(name)
        yield b"%d," % number


async def waited_for(made: list[int]) -> AsyncGenerator[bytes, None]:
    try:
        for piece in numbered(made):
            await asyncio.sleep(0)
            yield piece
    finally:
        made.append(CLOSED)


async def stays() -> Message:
    await asyncio.Event().wait()
    return {}


async def sent(pieces: Pieces, turn: asyncio.Lock, method: str = "GET") -> list[Message]:
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    await response(pieces, turn)({"type": "http", "http_version": "1.1", "method": method}, stays, send)
    return messages


def test_all_pieces_arrive_and_no_length_is_sent() -> None:
    start, *bodies = asyncio.run(sent(numbered([]), asyncio.Lock()))
    assert b"".join(body["body"] for body in bodies) == b"".join(numbered([]))
    assert [body.get("more_body", False) for body in bodies][-2:] == [True, False]
    assert [name for name, _ in start["headers"]] == [b"a", b"content-type"]


def test_pieces_that_have_to_be_waited_for_arrive_too_and_their_maker_is_closed() -> None:
    made: list[int] = []
    _, *bodies = asyncio.run(sent(waited_for(made), asyncio.Lock()))
    assert b"".join(body["body"] for body in bodies) == b"".join(numbered([]))
    assert made[-1] == CLOSED


def test_a_head_request_makes_no_body() -> None:
    made: list[int] = []
    asyncio.run(sent(numbered(made), asyncio.Lock(), "HEAD"))
    assert made == []


def test_long_responses_take_turns() -> None:
    made: list[int] = []

    async def both() -> None:
        turn = asyncio.Lock()
        await asyncio.gather(sent(numbered(made, 1), turn), sent(numbered(made, 2), turn))

    asyncio.run(both())
    assert made[:20] == [1, 2] * 10


def test_other_work_is_done_between_two_pieces() -> None:
    made: list[int] = []

    async def beside() -> list[int]:
        seen: list[int] = []
        sending = asyncio.create_task(sent(numbered(made), asyncio.Lock()))
        while not sending.done():
            await asyncio.sleep(0)
            seen.append(len(made))
        return seen

    seen = asyncio.run(beside())
    assert {later - earlier for earlier, later in pairwise(seen)} <= {0, 1}


def test_a_response_that_fails_delays_no_other_and_is_never_completed() -> None:
    def breaking() -> Iterator[bytes]:
        yield b"one"
        raise ZeroDivisionError

    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def run() -> None:
        turn = asyncio.Lock()
        with pytest.raises(ZeroDivisionError):
            await response(breaking(), turn)(SCOPE, stays, send)
        slow = asyncio.create_task(response(numbered([]), turn)(SCOPE, stays, never))
        await asyncio.sleep(0)
        async with asyncio.timeout(1):
            await sent(numbered([]), turn)
        slow.cancel()

    asyncio.run(run())
    assert all(message.get("more_body", True) for message in messages)


async def never(_message: Message) -> None:
    """A client that reads nothing."""
    await asyncio.Event().wait()


def test_a_response_to_a_client_that_is_gone_is_not_continued() -> None:
    made: list[int] = []

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def send(_message: Message) -> None:
        await asyncio.sleep(0)

    async def run() -> None:
        await response(numbered(made), asyncio.Lock())(SCOPE, gone, send)

    with pytest.raises(ClientDisconnect):
        asyncio.run(run())
    assert len(made) < 5


def test_what_makes_the_pieces_is_closed_when_the_client_goes_away() -> None:
    made: list[int] = []

    async def run() -> None:
        sent_some = asyncio.Event()

        async def gone() -> Message:
            await sent_some.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            await asyncio.sleep(0)
            if message.get("body"):
                sent_some.set()

        await response(waited_for(made), asyncio.Lock())(SCOPE, gone, send)

    with pytest.raises(ClientDisconnect):
        asyncio.run(run())
    assert 1 < len(made) < 6
    assert made[-1] == CLOSED
