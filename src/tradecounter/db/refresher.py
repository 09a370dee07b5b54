"""Keeps the data in memory current, with one poll on a separate connection, and knows how old it is."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import psycopg
import structlog
from msgspec import Struct
from psycopg.errors import DiskFull

from tradecounter.db.changes import Version, Versions, read_versions
from tradecounter.db.pool import DATABASE_RESPONDED, Database
from tradecounter.db.server_state import has_room
from tradecounter.db.transaction import Transaction, reading
from tradecounter.kit.errors import DomainError, Kind, OperatorError
from tradecounter.kit.tasks import Seldom, in_background
from tradecounter.kit.telemetry import Durations

_RETRY_SECONDS = 5


class Freshness:
    """The time when all data in memory was last verified; without `stale_after`, data never becomes stale.

    Times are monotonic, in seconds.
    """

    def __init__(self, stale_after: timedelta | None = None) -> None:
        self.most_seconds = math.inf if stale_after is None else stale_after.total_seconds()
        self.verified_at = -math.inf
        self.stale_at = math.inf if stale_after is None else -math.inf

    @property
    def age(self) -> float:
        """Seconds since the last verification; infinite before the first one."""
        return time.monotonic() - self.verified_at

    @property
    def is_stale(self) -> bool:
        """Whether the data is too old to show to customers."""
        return time.monotonic() >= self.stale_at

    def verify(self, moment: float) -> None:
        """Record that all data was current at `moment`."""
        self.verified_at = moment
        self.stale_at = moment + self.most_seconds

    def require(self) -> None:
        """Raise DomainError (unavailable) if the data is stale."""
        if self.is_stale:
            raise DomainError(
                Kind.UNAVAILABLE,
                f"prices and stock cannot be verified at present; try again in {_RETRY_SECONDS} seconds",
                retry_after=_RETRY_SECONDS,
            )


log = structlog.get_logger()

Found = TypeVar("Found")

_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0


class Reader:
    """Reads one part at every poll; after a failure it pauses, with a doubled pause after each further failure."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._failures = 0
        self._failed: Version | None = None
        self._try_again_at = 0.0

    @property
    def failing(self) -> bool:
        """Whether the last attempt failed."""
        return self._failures > 0

    async def read(
        self, tx: Transaction, work: Callable[[], Awaitable[Found | None]], version: Version | None = None
    ) -> Found | None:
        """Return the result of `work`, or None if it fails or has recently failed at the same version.

        Raises the error of `work` if the transaction cannot continue, for example without a connection.
        """
        if version == self._failed and time.monotonic() < self._try_again_at:
            return None
        try:
            async with tx.savepoint():
                data = await work()
        except Exception as error:
            if not tx.can_continue:
                raise
            self._pause_after(error, version)
            return None
        self._failures, self._failed = 0, None
        return data

    def _pause_after(self, error: Exception, version: Version | None) -> None:
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** min(self._failures, 10), _LONGEST_PAUSE_SECONDS)
        self._failures, self._failed = self._failures + 1, version
        self._try_again_at = time.monotonic() + pause
        log.error("cannot be read", part=self._part, failures=self._failures, retry_in=pause, exc_info=error)


_LAST_WRITE_SECONDS = 2.0
_LEAST_PAUSE_SECONDS = 0.05  # after a task has ended


class OutdatedData(Struct, frozen=True):
    """Data that is not current yet: when it was last verified, and the task that it waits for, if any.

    The first refresh after `under_way` has ended continues with its result. Without a task, a later refresh tries
    again.
    """

    verified_at: float
    under_way: asyncio.Task[Any] | None = None


class Refreshable(Protocol):
    """Data in memory that can be refreshed from the database."""

    async def refresh(self, tx: Transaction, versions: Versions) -> OutdatedData | None:
        """Load changed data as of `versions`; return None if everything is current afterwards."""
        ...


class _Followed(Struct):
    refreshable: Refreshable
    reader: Reader
    verified_at: float = -math.inf


class Refresher:
    """Polls the versions of reference data and refreshes the data in memory.

    Only the refresher uses `database`. Requests use `shared`, whose connections are replaced after an outage because
    each broken connection would fail a request. `afterwards` is called after every poll and may write.
    """

    def __init__(
        self,
        database: Database,
        refreshables: Sequence[Refreshable],
        interval: timedelta,
        *,
        freshness: Freshness,
        shared: Database,
        afterwards: Callable[[Database], Awaitable[None]] | None = None,
    ) -> None:
        self._database = database
        self._followed = [_Followed(refreshable, Reader(type(refreshable).__name__)) for refreshable in refreshables]
        self._interval = interval.total_seconds()
        self._freshness = freshness
        self._shared = shared
        self._afterwards = afterwards
        self._one_at_a_time = asyncio.Lock()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._was_stale = False
        self._failure_log, self._staleness_log = Seldom(), Seldom()
        self._away_since: float | None = None
        self.durations = Durations()  # of polls that succeeded
        self.failures = 0  # of polls and of what follows them
        self.is_followed: Callable[[], bool] = lambda: False  # polls twice as often while clients wait for changes

    @property
    def away_seconds(self) -> float:
        """Seconds since the database stopped responding; 0 while it responds."""
        return 0.0 if self._away_since is None else time.monotonic() - self._away_since

    async def refresh(self) -> None:
        """Refresh all data. Raises psycopg.OperationalError if the database is away."""
        while under_way := await self.catch_up():
            await asyncio.wait(under_way)

    async def catch_up(self) -> set[asyncio.Task[Any]]:
        """Refresh the data; return the tasks that it waits for. Raises psycopg.OperationalError."""
        try:
            await self._refresh()
            if self._away_since is not None:
                async with self._shared.connection():  # the outage lasts until requests can connect
                    pass
        except DATABASE_RESPONDED:
            self._end_outage()
            raise
        except psycopg.OperationalError:
            await self._begin_outage()
            raise
        self._end_outage()
        return self._under_way

    def _end_outage(self) -> None:
        if self._away_since is not None:
            log.warning("database back", away_seconds=round(self.away_seconds, 1))
            self._away_since = None

    async def _begin_outage(self) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            for database in (self._database, self._shared):
                await database.renew()

    async def _refresh(self) -> None:
        async with self._one_at_a_time:
            began = time.perf_counter()
            async with reading(self._database) as tx:
                versions = await read_versions(tx)
                under_way = [await _refreshed(followed, tx, versions) for followed in self._followed]
            self._under_way = {task for task in under_way if task is not None}
            self._freshness.verify(min((each.verified_at for each in self._followed), default=versions.read_at))
            await self._look_at_the_disk()
            if self._afterwards is not None:
                try:
                    await self._afterwards(self._database)
                except DiskFull:  # logged where it was raised
                    self.failures += 1
                except Exception as error:  # noqa: BLE001 logged; a later poll tries again
                    self._log_failure(error)
            self.durations.add(time.perf_counter() - began)

    async def _look_at_the_disk(self) -> None:
        """Find out from time to time whether the shared database can write."""
        if not self._shared.writability.is_due:
            return
        async with reading(self._database) as tx:
            room = await has_room(tx)
        self._shared.writability.looked(room=room)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Refresh once, then poll while the block runs. Raises OperatorError or psycopg.Error."""
        try:
            await self.refresh()
            if self._freshness.verified_at == -math.inf:
                raise OperatorError("the catalogue, prices or stock cannot be loaded: the log says why")
            async with in_background(self._poll):
                yield
            await self._write_last()
        finally:
            for task in self._under_way:
                task.cancel()
            await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _write_last(self) -> None:
        """Write what has come since the last poll, before the process ends."""
        if self._afterwards is not None and self._away_since is None:
            try:
                async with asyncio.timeout(_LAST_WRITE_SECONDS):
                    await self._afterwards(self._database)
            except Exception as error:  # noqa: BLE001 logged; the process ends anyway
                self._log_failure(error)

    async def _poll(self) -> None:
        under_way = self._under_way
        while True:
            if under_way:
                await asyncio.wait(under_way, timeout=self._interval)
                await asyncio.sleep(min(_LEAST_PAUSE_SECONDS, self._interval))
            else:
                await asyncio.sleep(self._interval / 2 if self.is_followed() else self._interval)
            try:
                under_way = await self.catch_up()
            except Exception as error:  # noqa: BLE001 logged; the next poll tries again
                self._log_failure(error)
                under_way = set()
            self._log_staleness()

    def _log_failure(self, error: Exception) -> None:
        age = round(self._freshness.age, 1)
        self.failures += 1
        if not self._failure_log.is_due():
            return
        if isinstance(error, psycopg.OperationalError) and not isinstance(error, DATABASE_RESPONDED):
            log.warning("database away, keeping the data in memory", reason=str(error).strip(), data_age=age)
        else:
            log.error("refresh failed, keeping the data in memory", data_age=age, exc_info=error)

    def _log_staleness(self) -> None:
        is_stale, age = self._freshness.is_stale, round(self._freshness.age, 1)
        if is_stale and self._staleness_log.is_due():
            log.error("data in memory is too old: product reads and new orders get 503", data_age=age)
        elif self._was_stale and not is_stale:
            log.warning("data in memory is current again", data_age=age)
            self._staleness_log = Seldom()
        self._was_stale = is_stale


async def _refreshed(followed: _Followed, tx: Transaction, versions: Versions) -> asyncio.Task[Any] | None:
    """Refresh one part; return the task that it waits for, if any."""
    outdated = await followed.reader.read(tx, lambda: followed.refreshable.refresh(tx, versions))
    if not followed.reader.failing:
        followed.verified_at = versions.read_at if outdated is None else outdated.verified_at
    return None if outdated is None else outdated.under_way
