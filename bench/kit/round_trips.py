"""Counts the round trips to the database: a relay between it and the product that sees only which side sends.

A round trip is what the product sends until the database responds, whatever the number of statements.
"""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, unquote

_SOCKET_NAME = ".s.PGSQL.5432"
_CHUNK = 1 << 16


class Relay:
    """The round trips so far, and how often the prepared statement that begins with `counted` was executed."""

    def __init__(self, upstream: Path, counted: str = "") -> None:
        self.round_trips = 0
        self.executions = 0
        # To prepare a statement: P, the length in four bytes, which may be letters, and the name between it and a zero.
        begins = rb"P....(\w+)\0" + re.escape(counted.encode())
        self._preparing = re.compile(begins, re.DOTALL) if counted else None
        self._upstream = upstream
        self._lock = threading.Lock()

    def accept(self, listener: socket.socket) -> None:
        """Relay all connections until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.connect(str(self._upstream))
        waiting = threading.Event()
        names: set[bytes] = set()
        threading.Thread(target=self._forward_responses, args=(server, client, waiting), daemon=True).start()
        with client, suppress(OSError):
            while data := client.recv(_CHUNK):
                if not waiting.is_set():
                    waiting.set()
                    with self._lock:
                        self.round_trips += 1
                if self._preparing is not None:
                    names |= set(self._preparing.findall(data))
                    with self._lock:  # to bind a statement is to name it between zeros
                        self.executions += sum(data.count(b"\0%b\0" % name) for name in names)
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _forward_responses(self, server: socket.socket, client: socket.socket, waiting: threading.Event) -> None:
        with server, suppress(OSError):
            while data := server.recv(_CHUNK):
                waiting.clear()
                client.sendall(data)


@contextmanager
def relayed(url: str, folder: Path, counted: str = "") -> Iterator[tuple[Relay, str]]:
    """Relay while the block runs; yields the relay, which counts a statement, and the database's URL through it."""
    upstream = Path(unquote(url.partition("host=")[2])) / _SOCKET_NAME
    place = folder / "relay"
    place.mkdir(exist_ok=True)
    relay = Relay(upstream, counted)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(place / _SOCKET_NAME))
        listener.listen()
        threading.Thread(target=relay.accept, args=(listener,), daemon=True).start()
        try:
            yield relay, f"{url.partition('?')[0]}?host={quote(str(place), safe='')}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
