"""Where traces get their spans. Without a recorder, which `monitoring/traces.py` sets, this costs one comparison."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from msgspec import Struct, field


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
