"""A proxy before the service that loses responses, or is too busy, as networks and load balancers do."""

import http.client
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_EVERY = 3
_RETRY_AFTER = 1
_HOP_BY_HOP = frozenset(("connection", "transfer-encoding", "keep-alive", "content-length"))


@dataclass
class Lossy:
    """The proxy's address, and what went through it."""

    url: str = ""
    lost: list[str] = field(default_factory=list)  # the requests whose responses nobody got
    refused: list[float] = field(default_factory=list)  # when the proxy was too busy, in seconds
    requests: list[tuple[float, str]] = field(default_factory=list)


def _sent_on(target: str, request: BaseHTTPRequestHandler, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
    upstream = http.client.HTTPConnection(target, timeout=60)
    upstream.request(request.command, request.path, body, dict(request.headers))
    response = upstream.getresponse()
    content = response.read()
    upstream.close()
    return response, content


def _kept(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP]


@contextmanager
def lossy_proxy(url: str, *, busy: bool = False) -> Iterator[Lossy]:
    """Lose every third response of the service at `url`; if `busy`, reject every third request instead, with 503."""
    found, numbers, target = Lossy(), itertools.count(1), urlsplit(url).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            unlucky = next(numbers) % _EVERY == 0
            request = f"{self.command} {self.path}"
            found.requests.append((time.monotonic(), request))
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if unlucky and busy:
                found.refused.append(time.monotonic())
                self.respond(503, [("Retry-After", str(_RETRY_AFTER))], b"busy")
                return
            response, content = _sent_on(target, self, body)
            if unlucky:
                found.lost.append(request)
                self.close_connection = True
                return
            self.respond(response.status, response.getheaders(), content)

        def respond(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
            self.send_response_only(status)
            for header in _kept(headers):
                self.send_header(*header)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    for method in ("GET", "POST", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.forward)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
