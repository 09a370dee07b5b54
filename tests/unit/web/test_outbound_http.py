"""Receivers that are slow, dead or hostile, and where requests may go."""

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.certificates import make_certificate, server_side
from support.receiver import Script, answering, receiving, sender, status
from tradecounter.edge.outbound_http import HttpSender, NameService, NotSentError, PostResponse

BODY = b'{"id": "evt_1"}'


def post(script: Script, **options: Any) -> tuple[PostResponse, int]:
    """Post once to a receiver, and return the answer and how many requests arrived."""

    async def run() -> tuple[PostResponse, int]:
        async with receiving(script) as receiver:
            answer = await sender(**options).post(receiver.url, {"webhook-id": "evt_1"}, BODY)
            return answer, len(receiver.received)

    return asyncio.run(run())


def test_only_the_first_two_kilobytes_of_a_response_are_read() -> None:
    async def endless(_request: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"\x00\xff" * 500)
            await writer.drain()

    answer, _ = post(endless)
    assert (answer.status, answer.error, len(answer.response)) == (200, None, 2048)
    assert "\x00" not in answer.response


def test_a_redirect_is_a_failure_that_is_not_followed() -> None:
    answer, requests = post(answering(status(302, "Location: http://127.0.0.1:1/")))
    assert (answer.status, requests) == (302, 1)


@pytest.mark.parametrize(
    "response",
    [
        b"", b"\x16\x03\x01\x02", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200", b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, b"HTTP/1.1 100 Continue\r\n\r\n" * 5000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)  # fmt: skip
def test_what_is_no_response_is_a_failure(response: bytes) -> None:
    answer, _ = post(answering(response))
    assert answer.status is None
    assert answer.error


def test_informational_responses_and_chunks_are_understood() -> None:
    chunked = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    )
    answer, _ = post(answering(chunked))
    assert (answer.status, answer.response) == (201, "ok")


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n",
    ],
)
def test_a_response_that_is_cut_off_is_a_failure(response: bytes) -> None:
    answer, _ = post(answering(response))
    assert (answer.status, answer.error) == (None, "the connection was closed before the end of the response")

    async def read() -> None:
        async with receiving(answering(response)) as receiver:
            await sender().read(receiver.url, 1000, 5)

    with pytest.raises(NotSentError, match="before the end of the response"):
        asyncio.run(read())


def test_a_response_without_a_length_ends_with_the_connection() -> None:
    answer, _ = post(answering(b"HTTP/1.1 200 OK\r\n\r\nok"))
    assert (answer.status, answer.error, answer.response) == (200, None, "ok")


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"])
def test_the_time_limit_includes_the_body(beginning: bytes) -> None:
    async def hang(_request: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        await writer.drain()
        await asyncio.sleep(1)

    began = time.monotonic()
    answer, _ = post(hang, post_seconds=0.2)
    assert (answer.status, answer.error) == (None, "no complete response within 0 seconds")
    assert time.monotonic() - began < 5


def test_nothing_listens() -> None:
    answer = asyncio.run(sender().post("http://127.0.0.1:1/", {}, BODY))
    assert answer.status is None
    assert "refused" in str(answer.error).lower()


def looking_up(*found: Sequence[str]) -> Any:
    """A name service with these answers, one after another."""
    left = list(found)

    async def lookup(_host: str, _port: int) -> Sequence[str]:
        return left.pop(0)

    return lookup


def test_a_name_that_leads_to_a_private_address_is_not_reached_also_at_a_second_lookup() -> None:
    async def run() -> tuple[list[PostResponse], int]:
        async with receiving() as receiver:
            url = receiver.url.replace("127.0.0.1", "hooks.example")
            lookup = looking_up(["127.0.0.1", "10.0.0.1"], ["10.0.0.1"], ["::ffff:169.254.169.254"])
            through = sender(lookup=lookup)
            answers = [await through.post(url, {}, BODY) for _ in range(3)]
            assert receiver.received[0].headers["host"].startswith("hooks.example:")
            return answers, len(receiver.received)

    answers, requests = asyncio.run(run())
    assert [answer.status for answer in answers] == [200, None, None]
    assert answers[1].error == answers[2].error == "hooks.example does not have a public address"
    assert requests == 1


def test_loopback_is_not_reached_without_permission_and_http_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1/")
    for options in ({"networks": ()}, {"allow_http": False}):
        answer, requests = post(answering(), **options)
        assert (answer.status, requests) == (None, 0)
    assert post(answering())[0].status == 200


def test_names_of_this_machine_are_judged_by_their_address() -> None:
    for host in ("localhost", "0x7f.1", "2130706433"):
        answer = asyncio.run(HttpSender(allow_http=True).post(f"http://{host}:1/", {}, BODY))
        assert answer.error is not None
        assert "does not have a public address" in answer.error or "could not be resolved" in answer.error


def test_failures_of_the_network_are_named_without_numbers_of_the_system() -> None:
    async def unknown(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with socket.socket() as taken:  # nothing listens on it
        taken.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        refused = asyncio.run(sender().post(closed, {}, BODY))
    nameless = asyncio.run(sender(lookup=unknown).post("http://hooks.example/", {}, BODY))
    assert refused.error == "the connection failed: Connection refused"
    assert nameless.error == "the host name hooks.example could not be resolved: Name or service not known"


def test_certificates_are_checked_against_the_name(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, "hooks.example")
    trusting = ssl.create_default_context(cafile=certificate)

    async def run() -> list[PostResponse]:
        async with receiving(tls=server_side(certificate)) as receiver:
            urls = [receiver.url.replace("127.0.0.1", host) for host in ("hooks.example", "other.example")]
            lookup = looking_up(*[["127.0.0.1"]] * 3)
            return [
                await sender(lookup=lookup, tls=trusting).post(urls[0], {}, BODY),
                await sender(lookup=lookup, tls=trusting).post(urls[1], {}, BODY),
                await sender(lookup=lookup).post(urls[0], {}, BODY),
            ]

    good, wrong_name, unknown = asyncio.run(run())
    assert good.status == 200
    assert "not valid for 'other.example'" in str(wrong_name.error)
    assert str(unknown.error).startswith("the certificate is not valid: ")


@pytest.mark.parametrize("url", ["https://shop.example/caf\u00e9", "https://[shop.example/"])
def test_a_document_at_an_address_that_cannot_be_requested_is_not_read(url: str) -> None:
    with pytest.raises(NotSentError, match=r"ascii|Invalid IPv6 URL"):
        asyncio.run(sender().read(url, 1000, 1))


def test_all_senders_together_look_up_a_few_names_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, count = 0, 0, threading.Lock()

    def slow(*_: object, **__: object) -> list[object]:
        nonlocal running, most
        with count:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with count:
            running -= 1
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    async def look_up_all() -> None:
        await asyncio.gather(*(NameService()(f"{number}.example", 443) for number in range(80)))

    asyncio.run(look_up_all())
    assert 1 < most <= 32
