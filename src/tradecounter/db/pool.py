"""The process's connections to PostgreSQL."""

import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from psycopg_pool import AsyncConnectionPool, PoolTimeout

from tradecounter.db.pipeline import Connection, OutdatedStatementError
from tradecounter.db.turns import Turns
from tradecounter.db.watch import watched

WAIT_SECONDS = 3.0  # for a connection, before the database counts as away
_WAIT_WHILE_AWAY_SECONDS = 0.5  # so that few requests wait at a time

# By default, the operating system waits for hours for a peer that has vanished.
NOTICE_A_DEAD_PEER = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}

_BOUNDED = " -c lock_timeout=2500ms -c statement_timeout=30s"


class Database:
    """A pool of connections, and an asynchronous context manager that opens and closes it.

    `for_requests` bounds how long a statement waits for a lock and how long it runs, so that no request hangs. Each
    customer uses only some of the connections at a time (`turns.py`).
    """

    def __init__(self, url: str, *, connections: int = 10, for_requests: bool = False) -> None:
        self.url = url
        self._turns = Turns(connections)
        self._wait_seconds = WAIT_SECONDS
        self._renewed_at = -math.inf
        options = "-c timezone=UTC" + (_BOUNDED if for_requests else "")
        self.pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            connection_class=Connection,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=WAIT_SECONDS,
            # The pool's pauses between attempts grow. Giving up early lets the next request try immediately.
            reconnect_timeout=WAIT_SECONDS,
            kwargs={
                "autocommit": True,
                "connect_timeout": 3,
                "options": options,
                # `pipeline.py` prepares statements; the driver would discard those together with its own.
                "prepare_threshold": None,
                **NOTICE_A_DEAD_PEER,
            },
        )

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Use a connection for a block, in the customer's turn.

        Raises psycopg.OperationalError when the database is away or stops responding, or DomainError (unavailable) when
        the turn does not come.
        """
        async with self._turns.turn():
            connection = await self._take()
            try:
                with watched(connection, self.url):
                    yield connection
            except OutdatedStatementError:  # the other connections of the same age have such statements too
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
        """Replace all connections: after an outage, each broken one would fail a request."""
        self._renewed_at = time.monotonic()
        await self.pool.drain()

    async def __aenter__(self) -> Self:
        await self.pool.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.pool.close()
