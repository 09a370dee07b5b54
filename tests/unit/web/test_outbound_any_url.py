"""However the address of this machine is spelt in a webhook's URL, nothing is sent to it."""

import asyncio
import socket
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from support.receiver import receiving
from tradecounter.edge.outbound_http import HttpSender, PostResponse
from tradecounter.kit.errors import DomainError
from tradecounter.webhooks.rules import check_url

SPELLINGS = [
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001",
    "127.0.0.1.", "0",
    "0.0.0", "localhost", "LOCALHOST.", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::1%25lo]",
    "[::1%lo]",
    "[::ffff:127.0.0.1%1]", "127.0.0.1%00.shop.example", "127%2e0%2e0%2e1", "①②⑦.⓪.⓪.①", "127。0。0。1", "shop.example",
    "shop.example@127.0.0.1", "127.0.0.1\\@shop.example", "127.0.0.1#@shop.example", "shop.example\t@127.0.0.1",
    "127.0.0.1:80:90", "user:word@127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "[fd00::1]", "[fe80::1]",
]  # fmt: skip
schemes = st.sampled_from(
    ["http://", "HTTP://", "http:/", "http:", "//", "http:\\\\", "gopher://", "file://", "http://\t", ""]
)
tails = st.sampled_from(["/", "", "/a?b=c", "?x", "#", "/\r\nX-Injected: 1", "/ HTTP/1.1", "/%0d%0a", ";x", "\\", "@"])


async def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a host as a hostile name server gives them: numbers are themselves, names are this machine."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeError):
        return ["127.0.0.1", "::1"]
    return [str(address[0]) for *_, address in found]


def attempt(scheme: str, host: str, tail: str) -> tuple[PostResponse | None, int]:
    """The outcome of a request to a URL that names the receiver, None if the URL is rejected, and what arrived."""

    async def run() -> tuple[PostResponse | None, int]:
        async with receiving() as receiver:
            port = receiver.url.split(":")[2].split("/")[0]
            url = f"{scheme}{host}:{port}{tail}"
            try:
                check_url(url, (), allow_http=True)
            except DomainError:
                return None, len(receiver.received)
            outcome = await HttpSender(allow_http=True, lookup=resolved).post(url, {}, b"{}")
            return outcome, len(receiver.received)

    return asyncio.run(run())


hosts = st.sampled_from(SPELLINGS) | st.ip_addresses(network="127.0.0.0/8").map(str) | st.text(max_size=8)


@fuzzed(150)
@given(schemes, hosts, tails)
def test_no_spelling_of_this_machines_address_is_reached(scheme: str, host: str, tail: str) -> None:
    outcome, arrived = attempt(scheme, host, tail)
    assert arrived == 0
    assert outcome is None or (outcome.status is None and outcome.error)


def test_a_host_that_resolves_to_this_machine_is_not_public() -> None:
    outcome, arrived = attempt("http://", "shop.example", "/")
    assert outcome is not None
    assert (outcome.error, arrived) == ("shop.example does not have a public address", 0)


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "localhost", "shop.localhost"])
def test_this_machine_is_rejected_when_a_webhook_is_added(host: str) -> None:
    assert attempt("http://", host, "/") == (None, 0)
