"""One HTTP request of any bytes on a connection of its own, and its response, read strictly."""

import http.client
import socket
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from support.front_proxies import unused_address

PATIENCE_SECONDS = 20.0  # for a response that has to come

Header = tuple[str, str]


@dataclass(frozen=True)
class PlainResponse:
    """A response, with its headers by lower-case name."""

    status: int
    headers: dict[str, str]
    body: bytes


def ask(
    url: str, method: str, target: str, headers: list[Header], body: bytes = b"", *, host: str = "shop.example"
) -> PlainResponse:
    """Send a request from an address of its own. Fails when no response comes, or what comes is not HTTP."""
    place = urlsplit(url)
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
    if body or method not in {"GET", "HEAD", "OPTIONS"}:
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")
    address = (place.hostname or "", place.port or 0)
    with socket.create_connection(address, PATIENCE_SECONDS, source_address=(unused_address(), 0)) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # a rejected request need not be read to its end
            connection.sendall(head + body)
        return _read(connection, method)


def _read(connection: socket.socket, method: str) -> PlainResponse:
    response = http.client.HTTPResponse(connection, method=method)
    try:
        response.begin()
        body = response.read()
    finally:
        response.close()
    return PlainResponse(response.status, {name.lower(): value for name, value in response.getheaders()}, body)
