"""A database behind a link that can fall silent, break, or break at a certain message."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit, urlunsplit

_PIECE = 65536
_EXECUTE, _QUERY, _SYNC = b"E", b"Q", b"S"
_CONFIRMS = b"order_number"  # unlike the polls, whose transactions end in the same way


@dataclass
class Link:
    """A TCP address that forwards everything to a database, unless told otherwise."""

    url: str
    database_url: str
    listener: socket.socket
    flowing: threading.Event = field(default_factory=threading.Event)
    sockets: list[socket.socket] = field(default_factory=list)
    spoken: list[bytes] = field(default_factory=list)  # the kinds of messages that were sent to the database
    break_before: bytes | None = None  # what the server never gets to hear of a confirmation
    break_after: bytes | None = None  # bytes of a client message whose response is lost
    heard: int = 0  # bytes that the database has returned
    left: int | None = None  # bytes that it may still return before the link breaks

    @property
    def statements(self) -> int:
        """How many statements were sent to the database."""
        return self.spoken.count(_EXECUTE) + self.spoken.count(_QUERY)

    @property
    def round_trips(self) -> int:
        """The round trips to the database: statements that are sent together end with one sync."""
        return self.spoken.count(_SYNC) + self.spoken.count(_QUERY)

    def hang(self) -> None:
        """Accept connections and bytes, and forward nothing."""
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
        cut = threading.Event()
        for pump, source, target in ((self._pump_up, client, server), (self._pump_down, server, client)):
            threading.Thread(target=pump, args=(source, target, cut), daemon=True).start()

    def _pump_up(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        confirming, messages = False, Messages()
        with _both_ending(client, server):
            while piece := client.recv(_PIECE):
                self.spoken += messages.of(piece)
                self.flowing.wait()
                confirming = confirming or _CONFIRMS in piece
                if confirming and self.break_before is not None and self.break_before in piece.lower():
                    return
                if confirming and self.break_after is not None and self.break_after in piece.lower():
                    cut.set()
                server.sendall(piece)

    def _pump_down(self, server: socket.socket, client: socket.socket, cut: threading.Event) -> None:
        with _both_ending(server, client):
            while piece := server.recv(_PIECE):
                self.flowing.wait()
                if cut.is_set():  # the server has done what it was told, and nobody hears of it
                    return
                self.heard += len(piece)
                if self.left is not None:
                    piece = piece[: self.left]
                    self.left -= len(piece)
                client.sendall(piece)
                if self.left == 0:
                    return


@dataclass
class Messages:
    """Splits a connection's bytes into messages: a letter, a length and a payload; only the first has no letter."""

    said: bytes = b""
    letters: int = 0

    def of(self, piece: bytes) -> list[bytes]:
        """The letters of the messages that are complete with one more piece."""
        self.said += piece
        found = []
        while len(self.said) >= self.letters + 4:
            end = self.letters + int.from_bytes(self.said[self.letters : self.letters + 4])
            if len(self.said) < end:
                break
            found.append(self.said[: self.letters])
            self.said, self.letters = self.said[end:], 1
        return found


@contextmanager
def _both_ending(*ends: socket.socket) -> Iterator[None]:
    with suppress(OSError):
        yield
    for end in ends:
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
