"""The site of an application that asks for consent: another origin than the service."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Application:
    """The site of an application: another origin, which notes how browsers arrive at its redirect URI."""

    url: str
    arrivals: queue.Queue[tuple[str, str | None]]

    def arrival(self) -> dict[str, list[str]]:
        """The query with which the browser arrives next; it must not say where it came from."""
        path, referrer = self.arrivals.get(timeout=20)
        assert referrer is None
        return parse_qs(urlsplit(path).query)


@contextmanager
def application_site() -> Iterator[Application]:
    arrivals: queue.Queue[tuple[str, str | None]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                arrivals.put((self.path, self.headers["Referer"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Application(f"http://127.0.0.1:{server.server_port}/callback", arrivals)
        finally:
            server.shutdown()
            thread.join()
