"""Invalid and oversized HTTP is rejected with the service's own errors, and the server keeps running."""

import json
import random
import socket
from urllib.parse import urlsplit

import pytest

from support.error_bodies import error_body
from support.service import Customer, Service

PATIENCE = 10.0


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    return service.customer()


def connect(service: Service) -> socket.socket:
    address = urlsplit(service.url)
    return socket.create_connection((address.hostname, address.port or 0), timeout=PATIENCE)


def exchange(service: Service, data: bytes, *, hang_up: bool = False) -> bytes:
    """Send bytes, and return everything received until the server closes; `hang_up` ends the sending side."""
    received = b""
    with connect(service) as connection:
        try:
            connection.sendall(data)
            if hang_up:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                received += piece
        except TimeoutError:
            raise
        except OSError:
            pass  # the server closed first
    return received


def status(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


def get(*headers: bytes, path: bytes = b"/") -> bytes:
    return b"\r\n".join([b"GET " + path + b" HTTP/1.1", b"Host: x", *headers, b"Connection: close", b"", b""])


NOT_HTTP = {
    "noise": b"\x00\xff\x16\x03\x01noise\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 512,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "unknown version": b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "raw bytes in the path": get(path=b"/\xff\xfe"),
    "raw bytes in the query": get(path=b"/product?query=\xff\xfe"),
    "CONNECT": b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "space in a header's name": get(b"Bad Header: x"),
    "NUL in a header": get(b"A: \x00"),
    "folded header": get(b"X-Api-Key: a\r\n b"),
    "header without a colon": get(b"nonsense"),
    "both length and chunks": get(b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"0\r\n\r\n",
    "two lengths": b"POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
    "negative length": b"POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "length that is not a number": b"POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: \xb2\r\n\r\n",
    "endless length": b"POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
}  # fmt: skip


@pytest.mark.parametrize("data", NOT_HTTP.values(), ids=NOT_HTTP.keys())
def test_invalid_http_is_rejected_with_a_json_error(service: Service, customer: Customer, data: bytes) -> None:
    head, _, body = exchange(service, data).partition(b"\r\n\r\n")
    assert status(head) == 400
    assert json.loads(body) == error_body("invalid", "the request is not valid HTTP")
    assert b"content-type: application/json" in head.lower()
    assert b"x-request-id: " in head.lower()
    assert customer.get("/customer").status_code == 200


UNUSUAL = {
    "HTTP/1.0": (b"GET / HTTP/1.0\r\n\r\n", 200),
    "an empty host": (b"GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 200),
    "a host of 255 bytes": (b"GET / HTTP/1.1\r\nHost: " + b"a" * 255 + b"\r\nConnection: close\r\n\r\n", 200),
    "absolute address": (get(path=b"http://other.example/nowhere"), 404),
    "absolute address without a path": (get(path=b"http://other.example"), 200),
    "absolute address with a query alone": (get(path=b"http://other.example?a=b"), 200),
    "absolute address of nothing": (get(path=b"http://"), 400),
    "asterisk": (b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404),
    "two slashes": (get(path=b"//customer"), 404),
    "dots": (get(path=b"/order/../customer"), 404),
    "an offer of WebSocket": (
        get(b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13"),
        200,
    ),
    "an Accept of noise": (get(b"Accept: \xff/;q=\xff,,;;q=nan,*/*;q=1e999", path=b"/docs"), 200),
    "a header given a hundred times": (get(*[b"Accept: text/csv"] * 100), 200),
}


@pytest.mark.parametrize(("data", "expected"), UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_http_gets_a_response(service: Service, data: bytes, expected: int) -> None:
    assert status(exchange(service, data)) == expected


CHUNKED = b"POST /order HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: %b\r\n\r\n0\r\n\r\n"

REJECTED_HEADS = {
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400, "Host: must be given exactly once"),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400, "Host: must be given exactly once"),
    "two hosts in HTTP/1.0": (b"GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400, "Host: must be given exactly once"),
    "a long host": (
        b"GET / HTTP/1.1\r\nHost: " + b"a" * 256 + b"\r\n\r\n",
        400,
        "Host: must be at most 255 bytes long",
    ),
    "a coding before chunks": (CHUNKED % b"gzip, chunked", 501, "Transfer-Encoding: only chunked is supported"),
    "a coding alone": (CHUNKED % b"gzip", 501, "Transfer-Encoding: only chunked is supported"),
    "a coding on a line of its own": (
        CHUNKED % b"gzip\r\nTransfer-Encoding: chunked",
        501,
        "Transfer-Encoding: only chunked is supported",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("data", "expected", "why"), REJECTED_HEADS.values(), ids=REJECTED_HEADS.keys())
@pytest.mark.parametrize("around", [b"", get(path=b"/check-health")], ids=["alone", "between others"])
def test_an_ambiguous_head_is_rejected_and_closes_the_connection(
    service: Service, data: bytes, expected: int, why: str, around: bytes
) -> None:
    response = exchange(service, around.replace(b"Connection: close\r\n", b"") + data + around)
    *_, last = response.split(b"HTTP/1.1 ")
    assert last.startswith(str(expected).encode())
    assert json.loads(last.partition(b"\r\n\r\n")[2]) == error_body("invalid", why)
    assert b"\r\nConnection: close\r\n" in last


@pytest.mark.parametrize("hosts", [b"Host: x\r\nHost: x\r\n", b"Host: " + b"a" * 256 + b"\r\n"], ids=["two", "long"])
def test_a_bad_host_is_rejected_even_for_cached_responses(service: Service, customer: Customer, hosts: bytes) -> None:
    service.refresh()
    head = b"GET /product?limit=1 HTTP/1.1\r\n%bX-Api-Key: %b\r\n\r\n"
    for _ in range(3):
        assert b"HTTP/1.1 200" in exchange(service, head % (b"Host: x\r\nConnection: close\r\n", customer.key.encode()))
        assert status(exchange(service, head % (hosts, customer.key.encode()))) == 400


@pytest.mark.parametrize("apart", [False, True], ids=["together", "body later"])
def test_an_offer_of_http_2_is_ignored(service: Service, customer: Customer, apart: bool) -> None:
    """Java's client sends the offer with every request."""
    body = b'{"city": 7}'
    head = (
        b"POST /customer/address HTTP/1.1\r\nHost: shop\r\nX-Api-Key: %b\r\nContent-Type: application/json\r\n"
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
        b"Content-Length: %d\r\n\r\n" % (customer.key.encode(), len(body))
    )
    with connect(service) as connection:
        for _ in range(2):
            if apart:
                connection.sendall(head.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
                assert connection.recv(65536).startswith(b"HTTP/1.1 100")
                connection.sendall(body)
            else:
                connection.sendall(head + body)
            response = b""
            while not response.endswith(b"}"):
                response += connection.recv(65536)
            assert response.startswith(b"HTTP/1.1 400")
            assert b"city: must be text" in response


def test_many_offers_at_the_same_time_all_get_responses(service: Service) -> None:
    offer = b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    responses = exchange(service, offer * 500 + get(path=b"/nothing"))
    assert responses.count(b"HTTP/1.1 404") == 501


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 2_000_000,
        b"GET / HTTP/1.1\r\n" + b"X-Many: a\r\n" * 200_000,
        b"GET /" + b"a" * 2_000_000,
    ],
    ids=["one endless header", "endless headers", "an endless path"],
)
def test_endless_headers_are_rejected(service: Service, customer: Customer, head: bytes) -> None:
    response = exchange(service, head)
    assert not response or status(response) == 431, "an empty response means that the connection was reset"
    assert customer.get("/customer").status_code == 200


def test_a_target_that_the_parser_cannot_hold_is_too_long_and_not_invalid(service: Service) -> None:
    for target in (b"/?x=", b"http://other.example/?x="):
        response = exchange(service, get(path=target.ljust(66_000, b"y")))
        assert status(response) == 431
        assert b"are too long" in response


BEGUN = b"POST /order HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "rest",
    [
        b"0\r\n" + b"a:b\r\n" * 400_000,
        b"0\r\nX-Long: " + b"a" * 2_000_000,
        b"2\r\n{}\r\n0\r\n" + b"a" * 2_000_000,
        b"2;" + b"a" * 2_000_000,
        b'2;name="' + b"a" * 2_000_000,
    ],
    ids=["trailers", "a trailer", "a trailer's name", "a chunk's extension", "an extension's value"],
)
def test_endless_trailers_and_chunk_extensions_are_rejected(service: Service, customer: Customer, rest: bytes) -> None:
    response = exchange(service, BEGUN + rest)
    assert not response or status(response) in {401, 431}, "an empty response means that the connection was reset"
    assert response.count(b"HTTP/1.1") <= 1
    assert customer.get("/customer").status_code == 200


def test_a_body_in_the_smallest_chunks_is_accepted(service: Service, customer: Customer) -> None:
    body = b'{"city": "%b"}' % (b"x" * 30_000)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    assert len(chunks) > 2 * 64 * 1024
    head = BEGUN.replace(b"/order", b"/customer/address").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n")
    response = exchange(service, head + b"X-Api-Key: " + customer.key.encode() + b"\r\n\r\n" + chunks + b"0\r\n\r\n")
    assert status(response) == 400
    assert b"city: " in response


def test_headers_of_a_common_size_are_accepted(service: Service) -> None:
    assert status(exchange(service, get(b"Cookie: " + b"a" * 16_000, path=b"/check-health?" + b"q" * 8_000))) == 200


@pytest.mark.parametrize("cut", [1, 10, 40, 90, 115])
def test_a_client_that_disconnects_during_a_request_does_no_harm(
    service: Service, customer: Customer, cut: int
) -> None:
    whole = (
        b"POST /order HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + customer.key.encode() + b"\r\nContent-Length: 9\r\n\r\n{}"
    )
    assert len(whole) > cut
    with connect(service) as connection:
        connection.sendall(whole[:cut] if cut < 115 else whole)
    assert customer.get("/customer").status_code == 200


def test_random_noise_never_causes_a_5xx_or_stops_the_server(service: Service, customer: Customer) -> None:
    chance = random.Random(4711)  # noqa: S311 noise, not a secret
    whole = get(b"X-Api-Key: " + customer.key.encode(), b"Accept: application/json", path=b"/product?limit=1")
    for _ in range(150):
        noisy = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            noisy[chance.randrange(len(noisy))] = chance.randrange(256)
        response = exchange(service, bytes(noisy), hang_up=True)
        assert not response or status(response) < 500, bytes(noisy)
    assert customer.get("/customer").status_code == 200
