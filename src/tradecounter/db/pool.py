"""The process's connections to PostgreSQL, with a watch on a database that does not respond."""

import asyncio
import math
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from types import TracebackType
from typing import Any, Self

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.errors import (
    DeadlockDetected,
    DiskFull,
    LockNotAvailable,
    OperationalError,
    OutOfMemory,
    QueryCanceled,
    ReadOnlySqlTransaction,
    SerializationFailure,
)
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from tradecounter.db.connection import Connection
from tradecounter.db.fair_shares import FairShares
from tradecounter.db.pipeline import OutdatedStatementError
from tradecounter.db.writability import Writability
from tradecounter.kit.tasks import Seldom

log = structlog.get_logger()

PATIENCE_SECONDS = 2  # before each attempt, and for the database's response


@contextmanager
def watched(connection: AsyncConnection[Any], url: str) -> Iterator[None]:
    """Cut a connection if the database stops responding while the block uses it.

    The database's timeouts do not help then, and the network reports no error. So another connection is opened during a
    long transaction. If the database does not respond to it either, the transaction's connection is cut.
    """
    watching: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()
    timer = loop.call_later(PATIENCE_SECONDS, lambda: watching.append(loop.create_task(_watch(connection, url))))
    try:
        yield
    finally:
        timer.cancel()
        for task in watching:
            task.cancel()


async def _watch(connection: AsyncConnection[Any], url: str) -> None:
    while await _responds(url):  # noqa: ASYNC110 no event exists for this
        await asyncio.sleep(PATIENCE_SECONDS)
    log.warning("the database does not respond: cutting a connection to it")
    with suppress(OSError, psycopg.Error), socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as s:
        s.shutdown(socket.SHUT_RDWR)


async def _responds(url: str) -> bool:
    """Return whether the database responds to a new connection, even with an error."""
    try:
        await (await AsyncConnection.connect(url, connect_timeout=PATIENCE_SECONDS)).close()
    except psycopg.errors.ConnectionTimeout:
        return False
    except psycopg.OperationalError:
        pass
    return True


WAIT_SECONDS = 3.0  # for a connection, before the database is considered away
_WAIT_WHILE_AWAY_SECONDS = 0.5  # shorter, so that few requests wait at the same time

# A former primary raises ReadOnlySqlTransaction, and so does a replica until it is promoted.
DATABASE_AWAY = (OperationalError, PoolTimeout, ReadOnlySqlTransaction)
# These are OperationalErrors too, but the database is not away.
DATABASE_RESPONDED = (
    DeadlockDetected,
    DiskFull,
    LockNotAvailable,
    OutdatedStatementError,
    OutOfMemory,
    QueryCanceled,
    SerializationFailure,
)


class FailureLog:
    """Logs failures of periodic work: each with its traceback, but only seldom that the database is away."""

    def __init__(self, event: str) -> None:
        self._event = event
        self._outages = Seldom()

    def add(self, error: Exception) -> None:
        """Log a failure."""
        cause = error.__cause__ or error  # the queue's library has errors of its own
        away = isinstance(cause, DATABASE_AWAY) and not isinstance(cause, DATABASE_RESPONDED)
        if not away or self._outages.is_due():
            log.warning(self._event, exc_info=None if away else error, reason=str(cause).strip())


async def repeated(work: Callable[[], Awaitable[float]], failure: str, pause: float) -> None:
    """Do work for ever, and wait each time for the seconds that it returns.

    A failure is logged as the event `failure`, and after a `pause`, in seconds, work goes on.
    """
    failures = FailureLog(failure)
    while True:
        try:
            seconds = await work()
        except Exception as error:  # noqa: BLE001 logged, and tried again
            failures.add(error)
            seconds = pause
        await asyncio.sleep(seconds)


# By default, the operating system detects a vanished peer only after hours.
NOTICE_A_DEAD_PEER: Mapping[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}

# The second one ends the transaction of a process that is stopped in it, for example as its machine falls asleep: the
# server would keep its locks, for which all others wait. It is longer than any work between two statements.
_ALWAYS = "-c timezone=UTC -c idle_in_transaction_session_timeout=5min"
_BOUNDED = " -c lock_timeout=2500ms -c statement_timeout=30s"
_NOT_DURABLE = " -c synchronous_commit=off"


class Database:
    """A connection pool; an asynchronous context manager that opens and closes it.

    With `for_requests`, statements have a lock timeout and a statement timeout, so that no request hangs. Each customer
    uses only a share of the connections at the same time. A commit waits at most `commit_seconds`
    for its confirmation; None: without a limit. Without `durable`, it does not wait at all: the last commits before a
    crash may be lost. `writability` says whether the disk is full.
    """

    def __init__(
        self,
        url: str,
        *,
        connections: int = 10,
        for_requests: bool = False,
        commit_seconds: float | None = None,
        durable: bool = True,
    ) -> None:
        self.url = url
        self.commit_seconds = commit_seconds
        self.writability = Writability()
        self._shares = FairShares(connections)
        self._wait_seconds = WAIT_SECONDS
        self._renewed_at = -math.inf
        options = _ALWAYS + (_BOUNDED if for_requests else "") + ("" if durable else _NOT_DURABLE)
        self.pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            connection_class=Connection,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=WAIT_SECONDS,
            # The pool's pauses between attempts grow. After an early timeout, the next request tries immediately.
            reconnect_timeout=WAIT_SECONDS,
            kwargs={
                "autocommit": True,
                "connect_timeout": 3,
                "options": options,
                # `pipeline.py` prepares statements; the driver would discard them together with its own.
                "prepare_threshold": None,
                **NOTICE_A_DEAD_PEER,
            },
        )

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Use a connection in the block, as one of the customer's share.

        Raises psycopg.OperationalError if the database is away or stops responding, or DomainError (unavailable) if the
        customer's share stays in use.
        """
        async with self._shares.slot():
            connection = await self._take()
            try:
                with watched(connection, self.url):
                    yield connection
            except DiskFull as error:
                self.writability.failed(error)
                raise
            except (OutdatedStatementError, ReadOnlySqlTransaction):
                # Other connections of the same age have outdated statements too, or lead to the same former primary.
                if connection.made_at > self._renewed_at:
                    await self.renew()
                raise
            finally:
                await self.pool.putconn(connection)

    async def _take(self) -> Connection:
        try:
            connection = await self.pool.getconn(self._wait_seconds)
        except PoolTimeout:
            self._wait_seconds = _WAIT_WHILE_AWAY_SECONDS
            raise
        self._wait_seconds = WAIT_SECONDS
        return connection

    async def renew(self) -> None:
        """Replace all connections; after an outage, each broken connection would fail a request."""
        self._renewed_at = time.monotonic()
        await self.pool.drain()

    async def __aenter__(self) -> Self:
        await self.pool.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.pool.close()
