"""Blocks addresses that present wrong credentials, limits a customer's requests, and deletes what has expired."""

import math
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import structlog
from msgspec import Struct, field

from tradecounter.db.changes import Version, Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.server.client_address import TRUSTED_PROXIES
from tradecounter.identity.oauth.queries.access_tokens import delete_expired_tokens
from tradecounter.identity.queries import (
    add_failure,
    add_requests,
    block,
    current_blocks,
    delete_counts,
    delete_ended_blocks,
    delete_failures,
    find_block,
    lock_address,
    read_requests,
)
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind

log = structlog.get_logger()

MOST_FAILURES = 10
FAILURE_WINDOW = timedelta(seconds=60)
BLOCKED_FOR = timedelta(minutes=5)


class BlockedError(DomainError):
    """The address is blocked, even with a valid credential."""

    def __init__(self, left: timedelta) -> None:
        seconds = math.ceil(left.total_seconds())
        super().__init__(
            Kind.BLOCKED,
            f"too many invalid credentials came from your address: it is blocked for another {seconds} seconds",
            retry_after=seconds,
        )


class Lockout(Struct):
    """The blocked addresses; a poll loads the blocks of other processes."""

    database: Database
    clock: Clock
    blocks: int = 0  # that began in this process
    _blocked: dict[str, datetime] = field(default_factory=dict)
    _version: Version | None = None

    @property
    def blocked(self) -> int:
        """How many addresses are blocked; blocks end with a poll."""
        return len(self._blocked)

    def check(self, address: str) -> None:
        """Raise BlockedError when an address is blocked."""
        until = self._blocked.get(address)
        if until is not None and (now := self.clock.now()) < until:
            raise BlockedError(until - now)

    async def record_failure(self, address: str, *, ignores_forwarding: bool = False) -> None:
        """Count a wrong credential; the tenth within a minute blocks its address.

        With `ignores_forwarding`, the peer may be a proxy that the settings do not name, so a block is logged as an
        error. Raises BlockedError when the address is already blocked; the failure does not prolong the block.
        """
        now = self.clock.now()
        async with transaction(self.database) as tx:
            await lock_address(tx, address)
            until = await find_block(tx, address, now)
            before = until
            if until is None and await add_failure(tx, address, now, since=now - FAILURE_WINDOW) >= MOST_FAILURES:
                until = now + BLOCKED_FOR
                await block(tx, address, until)
        if until is not None:
            self._blocked[address] = until
        if before is not None:
            raise BlockedError(before - now)
        if until is not None:
            self.blocks += 1
            _log_block(address, ignores_forwarding=ignores_forwarding)

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Load the blocks of other processes, and drop ended blocks."""
        now = self.clock.now()
        version = versions.of("blocks")
        if version != self._version:
            self._blocked |= await current_blocks(tx, now)
            self._version = version
        if self._blocked:
            self._blocked = {address: until for address, until in self._blocked.items() if until > now}


def _log_block(address: str, *, ignores_forwarding: bool) -> None:
    block = {
        "address": address,
        "reason": f"{MOST_FAILURES} invalid credentials within {int(FAILURE_WINDOW.total_seconds())} seconds",
        "seconds": int(BLOCKED_FOR.total_seconds()),
    }
    if ignores_forwarding:
        log.error(
            "address blocked that may be a proxy: it sends X-Forwarded-For or Forwarded; if it is your proxy, "
            "all clients behind it are blocked until the setting names it",
            **block,
            setting=TRUSTED_PROXIES,
        )
    else:
        log.warning("address blocked", **block)


# Each process counts in memory. About once a second it adds its counts to the shared counts and reads the totals. All
# processes together keep the limit, except for the requests of the last second (docs/adr/0008).

RATE_WINDOW = timedelta(minutes=5)
_WINDOW_SECONDS = int(RATE_WINDOW.total_seconds())
_WINDOW_MINUTES = RATE_WINDOW // timedelta(minutes=1)
_NONE = timedelta(0)
_EPOCH = datetime.fromtimestamp(0, UTC)


class Quota(NamedTuple):
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
            f"more than {quota.limit} requests in {_WINDOW_MINUTES} minutes: try again in {seconds} "
            f"second{'' if seconds == 1 else 's'}",
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
        found = self._counts.get(customer_id)
        if found is None:
            found = self._counts[customer_id] = _Count()
        remaining = self.limit - found.shared - found.here
        seconds_left = left.seconds + (left.microseconds > 0)
        if requests and remaining <= 0 and not admitted:
            raise RateLimitedError(Quota(self.limit, 0, seconds_left))
        found.here += requests
        return Quota(self.limit, max(remaining - requests, 0), seconds_left)

    def is_spent(self, customer_id: int) -> bool:
        """Return whether `count` would raise an error for a request now; counts nothing."""
        if not self.limit:
            return False
        self._left_of_window()
        found = self._counts.get(customer_id)
        return found is not None and found.shared + found.here >= self.limit

    def _left_of_window(self) -> timedelta:
        """Return the time until the window ends; begins a new one if it has ended."""
        now = self.clock.now()
        left = self._ends - now
        if not _NONE < left <= RATE_WINDOW:
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


def window_start(now: datetime) -> datetime:
    """Return when the window at a moment started; all customers have the same windows."""
    return now - (now - _EPOCH) % RATE_WINDOW


async def clean_up_identity(tx: Transaction, now: datetime) -> int:
    """Delete what has expired; return the number of deleted rows."""
    return (
        await delete_expired_tokens(tx, now)
        + await delete_failures(tx, now - FAILURE_WINDOW)
        + await delete_ended_blocks(tx, now)
        + await delete_counts(tx, window_start(now) - RATE_WINDOW)  # processes may still add to the previous window
    )
