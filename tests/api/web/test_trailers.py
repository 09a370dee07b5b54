"""Trailer fields are ignored: they set neither the credential nor the client's address."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from support.front_proxies import FrontProxy, fronts, unused_address
from support.service import Service


@pytest.fixture(params=list(fronts().values()), ids=list(fronts()), scope="module")
def front(request: pytest.FixtureRequest, service: Service) -> Iterator[FrontProxy]:
    with request.param(service.url) as front:
        yield front


def status(front: FrontProxy, address: str, *headers: str, trailers: tuple[str, ...] = ()) -> int:
    """Send a request with headers and trailers from an address, and return its status."""
    lines = ["POST /order HTTP/1.1", "Host: shop", f"X-Forwarded-For: {address}", "Transfer-Encoding: chunked"]
    lines += [*headers, "", "2", "{}", "0", *trailers, "", ""]
    with front.connect("127.0.0.1" if front.name == "direct" else address) as connection:  # a trusted proxy
        connection.sendall("\r\n".join(lines).encode())
        return int(connection.recv(65536).split(b" ", 2)[1])


def test_a_key_in_the_trailers_is_ignored(service: Service, front: FrontProxy) -> None:
    key = service.customer().key
    address = unused_address()
    assert status(front, address, f"X-Api-Key: {key}") == 400, "the body is invalid, the key is valid"
    assert status(front, address, trailers=(f"X-Api-Key: {key}",)) == 401


def test_an_address_in_the_trailers_is_ignored_for_blocks(front: FrontProxy) -> None:
    attacker, victim = unused_address(), unused_address()
    for _ in range(10):
        assert status(front, attacker, "X-Api-Key: wrong", trailers=(f"X-Forwarded-For: {victim}",)) == 401
    assert status(front, attacker, "X-Api-Key: wrong", trailers=(f"X-Forwarded-For: {victim}",)) == 403
    assert status(front, victim, "X-Api-Key: wrong") == 401


def test_a_trailer_replaces_no_header(service: Service, front: FrontProxy) -> None:
    key = service.customer().key
    address = unused_address()
    rejected = status(front, address, f"X-Api-Key: {key}", trailers=("Content-Type: text/plain",))
    assert rejected == 400, "not 415"


@pytest.mark.parametrize("trailers", [b"a:b\r\n" * 400_000, b"X: " + b"a" * 2_000_000 + b"\r\n"], ids=["many", "long"])
def test_oversized_trailers_are_rejected_by_the_service_or_the_proxy(
    service: Service, front: FrontProxy, trailers: bytes
) -> None:
    head = b"POST /order HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    received = b""
    with front.connect() as connection, suppress(ConnectionError):  # the server resets while data is still on its way
        connection.sendall(head + trailers + b"\r\n")
        received = connection.recv(65536)
    assert not received or received.split(b" ", 2)[1] in {b"400", b"401", b"431"}
    assert service.client().get("/check-health").status_code == 200
