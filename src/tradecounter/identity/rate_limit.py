"""Limits a customer's requests in fixed windows of five minutes (specification, section 8).

Each process counts in memory. About once a second it adds its counts to the shared counts and reads the totals. All
processes together keep the limit, except for the requests of the last second (docs/adr/0008).
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from msgspec import Struct, field

from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.identity.queries.limits import add_requests, read_requests
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import plural

RATE_WINDOW = timedelta(minutes=5)
_WINDOW_SECONDS = int(RATE_WINDOW.total_seconds())
_WINDOW_MINUTES = RATE_WINDOW // timedelta(minutes=1)
_NO_TIME = timedelta(0)
_EPOCH = datetime.fromtimestamp(0, UTC)


class Quota(Struct, frozen=True):
    """The requests that a customer has left in the window. `seconds_left`, until the window ends, is rounded up."""

    limit: int
    remaining: int
    seconds_left: int

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
        """The response headers with the quota (draft-ietf-httpapi-ratelimit-headers)."""
        return (
            (b"ratelimit-policy", _policy(self.limit)),
            (b"ratelimit", b'"customer";r=%d;t=%d' % (self.remaining, self.seconds_left)),
        )


@lru_cache(maxsize=1)
def _policy(limit: int) -> bytes:
    return b'"customer";q=%d;w=%d' % (limit, _WINDOW_SECONDS)


class RateLimitedError(DomainError):
    """The customer has no requests left in the window."""

    def __init__(self, quota: Quota) -> None:
        seconds = quota.seconds_left
        super().__init__(
            Kind.TOO_MANY_REQUESTS,
            f"more than {quota.limit} requests in {_WINDOW_MINUTES} minutes: try again in {plural(seconds, 'second')}",
            retry_after=seconds,
        )
        self.quota = quota


class _Count(Struct):
    """A customer's requests: the total of all processes at the last poll, and this process's count since then."""

    shared: int = 0
    here: int = 0


class RateLimit(Struct):
    """Counts customers' requests; a limit of 0 means no limit."""

    clock: Clock
    limit: int
    _ends: datetime = _EPOCH
    _counts: dict[int, _Count] = field(default_factory=dict)

    def count(self, customer_id: int, requests: int = 1, *, admitted: bool = False) -> Quota | None:
        """Count a request and return the remaining quota; None without a limit.

        A long response counts as several requests; an operation without a limit counts as 0. With `admitted`, adds to
        a request that was counted before, and raises no error. Raises RateLimitedError when no request is left. One
        remaining request is enough for a long response: otherwise a small limit would make long responses impossible.
        """
        if not self.limit:
            return None
        left = self._left_of_window()
        counter = self._counts.get(customer_id)
        if counter is None:
            counter = self._counts[customer_id] = _Count()
        remaining = self.limit - counter.shared - counter.here
        seconds_left = left.seconds + (left.microseconds > 0)
        if requests and remaining <= 0 and not admitted:
            raise RateLimitedError(Quota(self.limit, 0, seconds_left))
        counter.here += requests
        return Quota(self.limit, max(remaining - requests, 0), seconds_left)

    def is_spent(self, customer_id: int) -> bool:
        """Return whether `count` would raise an error for a request now; counts nothing."""
        if not self.limit:
            return False
        self._left_of_window()
        counter = self._counts.get(customer_id)
        return counter is not None and counter.shared + counter.here >= self.limit

    def _left_of_window(self) -> timedelta:
        """Return the time until the window ends; begins a new one if it has ended."""
        now = self.clock.now()
        left = self._ends - now
        if not _NO_TIME < left <= RATE_WINDOW:
            self._ends = window_start(now) + RATE_WINDOW
            self._counts = {}
            left = self._ends - now
        return left

    async def share(self, database: Database) -> None:
        """Add this process's counts to the shared counts, and read the totals."""
        window = self._ends - RATE_WINDOW
        counts = self._counts
        if not counts:
            return
        added = {customer_id: count.here for customer_id, count in counts.items() if count.here}
        async with transaction(database) as tx:
            if added:
                await add_requests(tx, window, added)
            shared = await read_requests(tx, window, list(counts))
        for customer_id, requests in shared.items():
            counts[customer_id].shared = requests
            counts[customer_id].here -= added.get(customer_id, 0)
        if counts is self._counts and self.clock.now() >= self._ends and not any(each.here for each in counts.values()):
            self._counts = {}  # nothing is left to share of a window that has ended


def window_start(now: datetime) -> datetime:
    """Return when the window at a moment started; all customers have the same windows."""
    return now - (now - _EPOCH) % RATE_WINDOW
