"""Where traces get their spans. Without a recorder, which `monitoring/traces.py` sets, this costs one comparison."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class RequestSpan:
    """What a request's span says at its end; nothing of the request itself but its method and its operation's path."""

    method: str
    route: str | None = None
    status: int = 0
    way: str = ""
    request_id: str = ""
    customer_id: int | None = None


class Recorder(Protocol):
    """Records spans."""

    def request(self, span: RequestSpan, traceparent: str | None) -> AbstractContextManager[None]:
        """Record a request that the block responds to; `span` is complete when the block ends."""
        ...

    def responded(self, span: RequestSpan, seconds: float) -> None:
        """Record a request that was responded to just now."""
        ...

    def round_trip(self, text: str) -> AbstractContextManager[None]:
        """Record a round trip to the database inside a request's span; `text` has no values."""
        ...


class _Spans:
    """The process's recorder, None while traces are off."""

    __slots__ = ("recorder",)

    def __init__(self) -> None:
        self.recorder: Recorder | None = None


SPANS = _Spans()
