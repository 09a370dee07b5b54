"""Methods that no resource has are 405, even those that the HTTP parser rejects (specification, order of checks)."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from support.error_bodies import error_body
from support.service import Service

PATIENCE = 10.0


def exchange(service: Service, *pieces: bytes) -> bytes:
    """Send pieces one by one, and return everything received until the server closes."""
    address, received = urlsplit(service.url), b""
    with socket.create_connection((address.hostname, address.port or 0), timeout=PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
        while piece := connection.recv(65536):
            received += piece
    return received


def parts(response: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = response.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split(" ")[1]), headers, body


def request(method: bytes, target: bytes = b"/order", *headers: bytes, body: bytes = b"") -> bytes:
    return b"\r\n".join([method + b" " + target + b" HTTP/1.1", b"Host: x", *headers, b"", body])


UNKNOWN = [
    b"FOO", b"LIST", b"BREW", b"get", b"GETX", b"GE", b"X-Y.Z_1", b"!#$%&'*+-.^_`|~", b"A" * 40, b"DESCRIBE", b"SETUP",
    b"QUERY", b"PURGE", b"TRACE", b"PATCH", b"DELETE",
]  # fmt: skip


@pytest.mark.parametrize("method", UNKNOWN, ids=bytes.decode)
@pytest.mark.parametrize(
    ("target", "allow"),
    [
        (b"/order", "GET, HEAD, OPTIONS, POST"),
        (b"/order/ORD-1?x=1", "GET, HEAD, OPTIONS, PUT"),
        (b"/product/A%2FB", "GET, HEAD, OPTIONS"),
    ],
)
def test_an_unknown_method_is_405_with_the_allowed_methods(
    service: Service, method: bytes, target: bytes, allow: str
) -> None:
    sent = request(method, target, b"X-Request-Id: mine", b"Connection: close")
    status, headers, body = parts(exchange(service, sent))
    assert (status, headers["x-request-id"], headers["connection"]) == (405, "mine", "close")
    assert sorted(headers["allow"].upper().split(", ")) == allow.split(", ")
    assert json.loads(body)["message"].startswith(f"{method.decode()} is not allowed here; use ")
    assert json.loads(body)["code"] == "method_not_allowed"


def test_an_unknown_path_is_404_for_unknown_methods_too(service: Service) -> None:
    status, headers, body = parts(exchange(service, request(b"FOO", b"/orders")))
    assert (status, "allow" in headers) == (404, False)
    assert json.loads(body) == error_body("not_found", "unknown path /orders; did you mean /order?")


def test_the_connection_is_closed_and_later_requests_get_no_response(service: Service) -> None:
    for body in (b"", b"Content-Length: 3\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"):
        first = b"FOO /order HTTP/1.1\r\nHost: x\r\n" + (body or b"\r\n")
        received = exchange(service, first + request(b"GET", b"/"))
        assert received.count(b"HTTP/1.1 ") == 1
        status, headers, _ = parts(received)
        assert (status, headers["connection"]) == (405, "close")


def test_a_method_sent_byte_by_byte_is_read_whole(service: Service) -> None:
    sent = request(b"LISTING", b"/order", b"Connection: Upgrade", b"Upgrade: h2c")
    status, headers, body = parts(exchange(service, *(sent[n : n + 1] for n in range(len(sent)))))
    assert (status, headers["connection"]) == (405, "close")
    assert json.loads(body)["message"].startswith("LISTING is not allowed here")


def test_it_gets_a_response_after_other_requests_and_after_line_breaks(service: Service) -> None:
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=PATIENCE) as connection:
        reader = connection.makefile("rb")
        connection.sendall(request(b"HEAD", b"/check-health"))
        while reader.readline() != b"\r\n":
            pass
        connection.sendall(b"\r\n\r\n" + request(b"FOO"))
        assert parts(reader.read())[0] == 405


@pytest.mark.parametrize(
    "sent",
    [
        b"F(O /order HTTP/1.1\r\nHost: x\r\n\r\n",
        b"FOO\t/order HTTP/1.1\r\nHost: x\r\n\r\n",
        b"FOO\r\nHost: x\r\n\r\n",
        b"A" * 41 + b" /order HTTP/1.1\r\nHost: x\r\n\r\n",
        b"FOO /order HTTP/9.9\r\nHost: x\r\n\r\n",
        b"F\xc3\x96\xc3\x96 /order HTTP/1.1\r\nHost: x\r\n\r\n",
        b" FOO /order HTTP/1.1\r\nHost: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"FOO /order HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"FOO /order HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_invalid_methods_and_invalid_http_are_400(service: Service, sent: bytes) -> None:
    status, headers, body = parts(exchange(service, sent))
    assert (status, "allow" in headers) == (400, False)
    assert json.loads(body) == error_body("invalid", "the request is not valid HTTP")


def test_the_limits_of_the_head_apply_to_unknown_methods_too(service: Service) -> None:
    assert parts(exchange(service, request(b"FOO", b"/order", b"Host: y")))[0] == 400
    assert parts(exchange(service, b"FOO /order HTTP/1.1\r\n\r\n"))[0] == 400
    assert parts(exchange(service, request(b"FOO", b"/order", b"Transfer-Encoding: gzip")))[0] in {400, 501}
