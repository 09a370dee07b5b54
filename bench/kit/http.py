"""A small HTTP client on one persistent connection, to warm up, fetch bodies and time single responses."""

import socket
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bench.kit.processes import BenchError

_CHUNK = 1 << 18
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Response:
    """A response: its headers by lower-case name, and the seconds until its first and its last byte."""

    status: int
    headers: dict[str, str]
    body: bytes
    first_byte: float
    seconds: float


def request_text(path: str, headers: dict[str, str], *, method: str = "GET", body: bytes = b"") -> bytes:
    """Return a request as it stands on the wire."""
    all_headers = {"Host": "bench", **headers} | ({"Content-Length": str(len(body))} if body else {})
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Connection:
    """A persistent connection to a server; a context manager. It can read at a limited rate."""

    def __init__(self, host: str, port: int, *, bytes_per_second: float | None = None) -> None:
        self._bytes_per_second = bytes_per_second
        self._socket = socket.create_connection((host, port), timeout=_TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    @property
    def local_port(self) -> int:
        """Our port, by which the process at the other end can be found."""
        port: int = self._socket.getsockname()[1]
        return port

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def fetch(self, request: bytes) -> Response:
        """Send a request and read its response."""
        start = time.perf_counter()
        self._socket.sendall(request)
        head, received = self._head()
        first_byte = time.perf_counter() - start
        status, headers = _parsed(head)
        body = self._body(status, headers, received)
        return Response(status, headers, body, first_byte, time.perf_counter() - start)

    def _head(self) -> tuple[bytes, bytearray]:
        received = bytearray(self._rest)
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._more("the server closed the connection before it responded: was it idle too long?")
        return bytes(received[:end]), received[end + 4 :]

    def _body(self, status: int, headers: dict[str, str], received: bytearray) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            return self._chunks(received)
        length = 0 if status in {204, 304} else int(headers.get("content-length", "0"))
        while len(received) < length:
            received += self._more()
        self._rest = bytes(received[length:])
        return bytes(received[:length])

    def _chunks(self, received: bytearray) -> bytes:
        body = bytearray()
        at = 0
        while True:
            while (end := received.find(b"\r\n", at)) < 0:
                received += self._more()
            size = int(bytes(received[at:end]).split(b";")[0], 16)
            while len(received) < end + 2 + size + 2:
                received += self._more()
            body += received[end + 2 : end + 2 + size]
            at = end + 2 + size + 2
            if size == 0:
                self._rest = bytes(received[at:])
                return bytes(body)

    def _more(self, if_closed: str = "the server closed the connection in the middle of a response") -> bytes:
        data = self._socket.recv(_CHUNK)
        if self._bytes_per_second is not None:
            time.sleep(len(data) / self._bytes_per_second)
        if not data:
            raise BenchError(if_closed)
        return data


def _parsed(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split()[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}
