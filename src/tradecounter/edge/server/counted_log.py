"""Logs events that clients can cause at will: the first event immediately, then counts."""

import asyncio
import contextvars
from collections import Counter

import structlog

log = structlog.get_logger()

SECONDS = 5.0
_MOST_LISTED = 10
_MOST_COUNTED = 1000  # different events between two lines; further events only add to the total


class CountedLog:
    """Logs the first of similar events, then at most one line every few seconds with the count since the last line.

    Each combination of values has its own count; a line lists the ten most frequent. Needs a running event loop.
    """

    def __init__(self, event: str, seconds: float = SECONDS) -> None:
        self._event = event
        self._more = f"{event}, more"
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._total = 0
        self._counts: Counter[tuple[tuple[str, str], ...]] = Counter()

    def add(self, **values: str | None) -> None:
        """Log an event, or count it."""
        known = {name: value for name, value in values.items() if value is not None}
        if self._timer is None:
            log.warning(self._event, **known)
            self._wait()
            return
        self._total += 1
        key = tuple(known.items())
        if key in self._counts or len(self._counts) < _MOST_COUNTED:
            self._counts[key] += 1

    def _wait(self) -> None:
        # A new context: the count does not belong to the request that came first.
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._seconds, self._summarise, context=contextvars.Context())

    def _summarise(self) -> None:
        self._timer = None
        if self._total:
            most = [{**dict(key), "count": count} for key, count in self._counts.most_common(_MOST_LISTED)]
            log.warning(self._more, count=self._total, seconds=self._seconds, most=most)
            self._total, self._counts = 0, Counter()
            self._wait()
