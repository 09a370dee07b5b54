"""Responses to HTTP/1.0: their length is stated, and what fails before it is known is an error."""

import asyncio
import errno
from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.web.frame import REQUEST_ID
from tradecounter.web.whole_responses import WholeResponses

Message = MutableMapping[str, Any]

START = {"type": "http.response.start", "status": 200}
CSV = (b"content-type", b"text/csv")


def sent(app: ASGIApp, method: str = "GET", version: str = "1.0") -> list[Message]:
    """The messages of a response."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "http_version": version, "method": method, "path": "/", "headers": [], REQUEST_ID: "r-1"}
    asyncio.run(WholeResponses(app)(scope, receive, send))
    return messages


def in_pieces(*pieces: bytes, fault: Exception | None = None) -> ASGIApp:
    """An application that sends pieces, and raises in place of the end if told so."""

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({**START, "headers": [CSV]})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if fault is not None:
            raise fault
        await send({"type": "http.response.body", "body": b""})

    return app


def body_of(messages: list[Message]) -> bytes:
    return b"".join(message["body"] for message in messages[1:])


def headers_of(messages: list[Message]) -> dict[bytes, bytes]:
    return dict(messages[0]["headers"])


@pytest.mark.parametrize("size", [0, 1, 1000, 3_000_000])
def test_a_response_in_pieces_arrives_whole_with_its_length(size: int) -> None:
    pieces = [b"", b"first,", b"x" * size, b",last"]
    messages = sent(in_pieces(*pieces))
    assert body_of(messages) == b"".join(pieces)
    assert headers_of(messages)[b"content-length"] == b"%d" % (size + 11)
    assert [message.get("more_body", False) for message in messages[1:]] == [True] * (len(messages) - 2) + [False]


@pytest.mark.parametrize(("method", "version"), [("GET", "1.1"), ("HEAD", "1.0")])
def test_what_needs_no_length_is_left_as_it_is(method: str, version: str) -> None:
    assert b"content-length" not in headers_of(sent(in_pieces(b"x"), method, version))


def test_a_response_that_states_its_length_or_has_no_body_is_left_as_it_is() -> None:
    assert body_of(sent(Response(b"whole"))) == b"whole"
    unchanged = sent(Response(status_code=304, headers={"ETag": '"x"'}))
    assert headers_of(unchanged) == {b"etag": b'"x"'}


def test_a_fault_on_the_way_is_a_500_and_not_a_response_cut_short() -> None:
    messages = sent(in_pieces(b"one", fault=ZeroDivisionError()))
    assert messages[0]["status"] == 500
    assert b"quote request r-1" in body_of(messages)


def test_without_room_on_the_disk_it_is_a_500(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/dev/full")
    messages = sent(in_pieces(b"x" * 2_000_000))
    assert messages[0]["status"] == 500


def test_a_client_that_went_away_is_told_nothing() -> None:
    with pytest.raises(ClientDisconnect):
        sent(in_pieces(b"x", fault=ClientDisconnect()))


def test_a_response_that_breaks_while_it_is_sent_is_not_followed_by_another() -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({**START, "headers": [(b"content-length", b"5")]})
        raise OSError(errno.EIO, "the disk")

    with pytest.raises(OSError, match="the disk"):
        sent(app)
