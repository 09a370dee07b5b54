"""Counts a site's requests; at 20,000 cached responses a second, a count must cost next to nothing."""

from collections import Counter
from typing import Literal

from tradecounter.kit.telemetry import Durations
from tradecounter.monitoring.metrics import Figures, Labels

# What responded: a request whose bytes were known, one whose head was parsed, the response cache through ASGI, an
# endpoint, or the connection itself, which rejects what is not HTTP.
Way = Literal["known_bytes", "fast_path", "response_cache", "endpoint", "connection"]
Key = tuple[str, str, str, Way]  # method, route, status, way

UNKNOWN_ROUTE = "unknown"
NO_STATUS = "none"  # the client has left before the response
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER_METHOD = "other"  # clients may send any word

# The reasons of errors, unless the error itself names one (`sites/http/errors.py`).
REASONS = {
    "400": "invalid",
    "401": "credential",
    "402": "credit",
    "403": "permission",
    "404": "not_found",
    "405": "method",
    "406": "not_acceptable",
    "408": "timeout",
    "409": "conflict",
    "410": "expired",
    "412": "precondition",
    "413": "too_large",
    "415": "media_type",
    "421": "address",
    "422": "invalid",
    "429": "rate_limit",
    "431": "too_large",
    "500": "failure",
    "503": "unavailable",
}
OWN_REASONS = ("blocked", "database_away", "not_http", "too_many_connections")
_OTHER_REASON = "other"
_FIRST_ERROR = "400"


def bounded_method(method: str) -> str:
    """Return a request's method as one of few words."""
    return method if method in _METHODS else _OTHER_METHOD


class RequestFigures:
    """The counts of one process; one thread adds, others may read at the same time."""

    def __init__(self) -> None:
        self._requests: dict[Key, Durations] = {}
        # From 0 on, because Prometheus sees no increase when a series begins with 1.
        self._rejections = Counter(dict.fromkeys((*REASONS.values(), *OWN_REASONS), 0))

    def add(self, key: Key, seconds: float) -> None:
        """Count a request without an error; the key's parts come from small sets."""
        durations = self._requests.get(key)
        if durations is None:
            durations = self._requests[key] = Durations()
        durations.add(seconds)

    def add_request(
        self, method: str, route: str | None, status: int, way: Way, seconds: float, reason: str | None
    ) -> None:
        """Count any request; `route` is the operation's path, `reason` that of an error if its status does not tell."""
        code = str(status) if status else NO_STATUS
        key = (bounded_method(method), route or UNKNOWN_ROUTE, code, way)
        self.add(key, seconds)
        if status and code >= _FIRST_ERROR:
            self._rejections[reason or REASONS.get(code, _OTHER_REASON)] += 1

    def figures(self) -> Figures:
        """Return the counts as metrics."""
        requests: dict[Labels, list[float]] = {}
        durations: dict[Labels, list[float]] = {}
        for (method, route, status, way), of_key in list(self._requests.items()):
            requests[method, route, status, way] = [of_key.number]
            labels = (method, route, way)
            before = durations.get(labels)
            values = of_key.values
            durations[labels] = values if before is None else [a + b for a, b in zip(before, values, strict=True)]
        return {
            "requests": requests,
            "request_duration_seconds": durations,
            "rejections": {(reason,): [number] for reason, number in list(self._rejections.items())},
        }
