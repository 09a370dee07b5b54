"""Sends work at the rates of a mix, at random moments as many independent programs do, and times each piece."""

import heapq
import random
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from bench.load_model.day import WEBHOOK
from bench.load_model.work import NothingWaitsError, Work

_THREADS = 96
_MOST_PENDING = 2000  # beyond that the shop is far too slow, and work that is due fails without being sent


@dataclass(frozen=True, slots=True)
class Sample:
    """One piece of work: when it was due (monotonic), the seconds from then to its response, and what was wrong."""

    due: float
    kind: str
    seconds: float
    fault: str = ""


class Press:
    """Sends a mix of work to a site; a context manager, which keeps its connections."""

    def __init__(self, work: Work, seed: int) -> None:
        self._work = work
        self._dice = random.Random(seed)  # noqa: S311 the same moments on every run
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="press")
        self._done: deque[Sample] = deque()
        self._lock = threading.Lock()
        self._sent = self._ended = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    def send(self, rates: Mapping[str, float], seconds: float) -> list[Sample]:
        """Send these rates a second for so long; return what was done meanwhile, also of what was sent before.

        A step of orders for which none waits yet is left out: the step before it has not come so far.
        """
        start = time.monotonic()
        for due, kind in self._dues(rates, seconds):
            time.sleep(max(0.0, start + due - time.monotonic()))
            if self.pending() > _MOST_PENDING:
                self._done.append(Sample(start + due, kind, 0.0, f"{kind}: not sent, since so much waits"))
                continue
            self._sent += 1
            self._threads.submit(self._one, start + due, kind)
        time.sleep(max(0.0, start + seconds - time.monotonic()))
        return self.taken()

    def taken(self) -> list[Sample]:
        """Return what was done since the last call."""
        found = []
        while self._done:
            found.append(self._done.popleft())
        return found

    def pending(self) -> int:
        """Return how many pieces of work were sent and are not done."""
        return self._sent - self._ended

    def _dues(self, rates: Mapping[str, float], seconds: float) -> Iterator[tuple[float, str]]:
        return heapq.merge(*(self._moments(k, r, seconds) for k, r in rates.items() if k != WEBHOOK and r > 0))

    def _moments(self, kind: str, rate: float, seconds: float) -> Iterator[tuple[float, str]]:
        due = self._dice.expovariate(rate)
        while due < seconds:
            yield due, kind
            due += self._dice.expovariate(rate)

    def _one(self, due: float, kind: str) -> None:
        fault = ""
        try:
            self._work.do(kind)
        except NothingWaitsError:
            self._end()
            return
        except Exception as error:  # noqa: BLE001 whatever it is, it is a fault
            fault = f"{kind}: {type(error).__name__}: {error}"
        self._done.append(Sample(due, kind, time.monotonic() - due, fault))
        self._end()

    def _end(self) -> None:
        with self._lock:
            self._ended += 1


def quantile(samples: list[Sample], share: float) -> float:
    """Return the seconds within which this share of the samples was done."""
    ordered = sorted(sample.seconds for sample in samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
