"""Clients that repeat requests, and reconnect when a response closes their connection, as proxies do."""

import http.client
import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from support.waiting import LONG


@dataclass
class SteadyClients:
    """What the clients have seen: statuses, requests without a response, and whether the service is gone."""

    pause: float  # seconds, after each response
    statuses: Counter[int] = field(default_factory=Counter)
    closed: int = 0  # responses that closed their connection
    broken: list[str] = field(default_factory=list)
    gone: int = 0  # clients that could connect no more, and ended
    end: threading.Event = field(default_factory=threading.Event)

    def send(self, address: str, paths: Sequence[str], headers: Mapping[str, str]) -> None:
        place = urlsplit(address)
        connection: http.client.HTTPConnection | None = None
        for path in itertools.cycle(paths):
            if self.end.wait(self.pause):
                break
            try:
                if connection is None:
                    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=LONG)
                    connection.connect()
            except OSError:
                self.gone += 1
                return
            try:
                connection.request("GET", path, headers=dict(headers))
                response = connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException) as error:
                self.broken.append(f"{path}: {error!r}")
                connection.close()
                return
            self.statuses[response.status] += 1
            if response.getheader("connection") == "close":
                self.closed += 1
                connection.close()
                connection = None
        if connection is not None:
            connection.close()


@contextmanager
def steady_clients(
    count: int, address: str, paths: Sequence[str], headers: Mapping[str, str], *, pause: float = 0
) -> Iterator[SteadyClients]:
    """Clients that request one path after the other while the block runs, or until the service is gone."""
    clients = SteadyClients(pause)
    threads = [threading.Thread(target=clients.send, args=(address, paths, headers)) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield clients
    finally:
        clients.end.set()
        for thread in threads:
            thread.join(timeout=LONG)
