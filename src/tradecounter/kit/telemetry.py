"""Durations and spans, which monitoring reads and records; while it does not, they cost next to nothing."""

from bisect import bisect_left
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from msgspec import Struct, field

# Upper bounds in seconds; durations beyond the last one are in a bucket of their own.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FIRST = BOUNDS[0]


class Durations:
    """How many durations were in each bucket, and their sum in seconds."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        # Most are in the first bucket: cached responses.
        self.counts[bisect_left(BOUNDS, seconds) if seconds > _FIRST else 0] += 1
        self.seconds += seconds

    @property
    def number(self) -> int:
        """How many durations were counted."""
        return sum(self.counts)

    @property
    def values(self) -> list[float]:
        """The counts of all buckets, then the sum."""
        return [*self.counts, self.seconds]


class RequestSpan(Struct):
    """What a request's span says at its end; nothing of the request itself but its method and its operation's path."""

    method: str
    route: str | None = None
    status: int = 0
    way: str = ""
    request_id: str = ""
    customer_id: int | None = None


class WorkSpan(Struct):
    """What the span of a job or a delivery says at its end; `kind` is `job` or `delivery`."""

    kind: str
    name: str
    values: dict[str, int | str] = field(default_factory=dict)
    failed: bool = False


class Recorder(Protocol):
    """Records spans."""

    def request(self, span: RequestSpan, traceparent: str | None) -> AbstractContextManager[RequestSpan]:
        """Record a request that the block responds to; `span`, which it gets, is complete when the block ends."""
        ...

    def responded(self, span: RequestSpan, seconds: float) -> None:
        """Record a request that was responded to just now."""
        ...

    def work(self, span: WorkSpan) -> AbstractContextManager[None]:
        """Record a job or a delivery that the block does; `span` is complete when the block ends."""
        ...

    def round_trip(self, text: str) -> AbstractContextManager[None]:
        """Record a round trip to the database inside another span; `text` has no values."""
        ...


class _Spans:
    """The process's recorder, None while traces are off."""

    __slots__ = ("recorder",)

    def __init__(self) -> None:
        self.recorder: Recorder | None = None

    def work(self, span: WorkSpan) -> AbstractContextManager[None]:
        """Record a job or a delivery, if traces are on."""
        return nullcontext() if self.recorder is None else self.recorder.work(span)


SPANS = _Spans()
