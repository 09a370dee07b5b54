"""A steady load: each request is sent when it is due, even while earlier ones wait, and timed from then.

Unlike `wrk`, it does not begin with a burst, and does not wait for slow responses before the next request.
"""

import heapq
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count

from bench.kit.figures import Row, milliseconds, shown
from bench.kit.http import Connection
from bench.kit.processes import BenchError
from bench.kit.product import Server

_MOST_AT_ONCE = 128
_ERROR = 400


@dataclass(frozen=True, slots=True)
class Stream:
    """Requests of one kind, and how many of them to send in a second."""

    requests: Iterator[bytes]
    rate: float


@dataclass(frozen=True, slots=True)
class Times:
    """What one stream measured: milliseconds from when a request was due, and how many failed."""

    p50: float
    p99: float
    worst: float
    failed: int


def steadily(
    server: Server, streams: Mapping[str, Stream], seconds: float, *, until: Callable[[], bool] = lambda: True
) -> dict[str, Times]:
    """Send all streams at once for a number of seconds, and then until a condition; return what each measured."""
    clients = _Clients(server)
    dues = heapq.merge(*(_dues(name, stream.rate) for name, stream in streams.items()))
    with ThreadPoolExecutor(_MOST_AT_ONCE) as threads:
        start = time.perf_counter()
        pending: list[tuple[str, Future[float]]] = []
        for due, name in dues:
            if due >= seconds and until():
                break
            time.sleep(max(0.0, start + due - time.perf_counter()))
            pending.append((name, threads.submit(clients.seconds_for, next(streams[name].requests), start + due)))
        taken = [(name, future.result()) for name, future in pending]
    return {name: times([found for kind, found in taken if kind == name]) for name in streams}


def _dues(name: str, rate: float) -> Iterator[tuple[float, str]]:
    return ((number / rate, name) for number in count())


class _Clients:
    """One connection per thread; a broken connection is replaced."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._local = threading.local()

    def seconds_for(self, request: bytes, due: float) -> float:
        """Return the seconds from when the request was due to its response, negative when it failed."""
        try:
            connection = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = Connection(self._server.host, self._server.port)
            failed = connection.fetch(request).status >= _ERROR
        except (OSError, BenchError):
            self._local.connection = None
            failed = True
        taken = time.perf_counter() - due
        return -taken if failed else taken


def times(taken: Sequence[float]) -> Times:
    """Sum up the seconds that requests took, negative where they failed."""
    if not taken:
        raise BenchError("no request was due")
    ordered = sorted(abs(seconds) * 1000 for seconds in taken)
    return Times(
        p50=ordered[len(ordered) // 2],
        p99=ordered[int(len(ordered) * 0.99)],
        worst=ordered[-1],
        failed=sum(seconds < 0 for seconds in taken),
    )


def p99_row(question: str, what: str, rate: int, calm: Times, meanwhile: Times, most: float) -> Row:
    """Return how much slower the p99 was meanwhile than before: at most `most` times, and without a failure."""
    return Row(
        question=question,
        what=f"p99 of {what}",
        ratio=meanwhile.p99 / calm.p99,
        target=f"≤ {most} × before",
        bound=most,
        sound=meanwhile.failed == 0,
        ours=milliseconds(meanwhile.p99),
        limit=milliseconds(calm.p99),
        p50=milliseconds(meanwhile.p50),
        p99=milliseconds(meanwhile.p99),
        note=f"{rate} a second; median before {milliseconds(calm.p50)}; the slowest took {shown(meanwhile.worst)} ms, "
        f"before {shown(calm.worst)} ms; {meanwhile.failed} failed",
    )
