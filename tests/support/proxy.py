"""A database behind a link that can fall silent, break, or break just when something is said."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit, urlunsplit

_PIECE = 65536
_CONFIRMS = b"order_number"  # unlike the polls, whose transactions end in the same way


@dataclass
class Link:
    """A TCP address that passes everything on to a database, as long as nothing else is asked of it."""

    url: str
    database_url: str
    listener: socket.socket
    flowing: threading.Event = field(default_factory=threading.Event)
    sockets: list[socket.socket] = field(default_factory=list)
    break_before: bytes | None = None  # what the server never gets to hear of a confirmation
    break_after: bytes | None = None  # what it hears of one, and whose answer is lost

    def hang(self) -> None:
        """Accept connections and bytes, and pass nothing on."""
        self.flowing.clear()

    def resume(self) -> None:
        self.flowing.set()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        server = _connect(self.database_url)
        self.sockets += [client, server]
        for source, target, hears in ((client, server, True), (server, client, False)):
            threading.Thread(target=self._pump, args=(source, target, hears), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, hears: bool) -> None:
        confirming = False
        with suppress(OSError):
            while piece := source.recv(_PIECE):
                self.flowing.wait()
                confirming = hears and (confirming or _CONFIRMS in piece)
                if confirming and self.break_before is not None and self.break_before in piece.lower():
                    break
                if confirming and self.break_after is not None and self.break_after in piece.lower():
                    target.sendall(piece)
                    target.recv(_PIECE, socket.MSG_PEEK)  # done: its answer is there
                    break
                target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _connect(database_url: str) -> socket.socket:
    parts = urlsplit(database_url)
    port = parts.port or 5432
    [folder] = parse_qs(parts.query).get("host", [""])
    if not folder:
        return socket.create_connection((parts.hostname or "127.0.0.1", port))
    found = socket.socket(socket.AF_UNIX)
    found.connect(f"{folder}/.s.PGSQL.{port}")
    return found


@contextmanager
def linked(database_url: str) -> Iterator[Link]:
    """A link to a database while the block runs."""
    parts = urlsplit(database_url)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        user = (parts.netloc.rpartition("@")[0] or "postgres") + "@"
        place = f"{user}127.0.0.1:{listener.getsockname()[1]}"
        url = urlunsplit((parts.scheme, place, parts.path, "sslmode=disable&gssencmode=disable", ""))
        link = Link(url, database_url, listener)
        link.resume()
        threading.Thread(target=link.serve, daemon=True).start()
        try:
            yield link
        finally:
            link.resume()
            for end in link.sockets:
                end.close()
