"""The process's connections to PostgreSQL."""

from types import TracebackType
from typing import Self

from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

WAIT_SECONDS = 5.0  # for a connection, before the database counts as away

# A peer that vanished without a word would otherwise be waited for by the operating system's patience: for hours.
NOTICE_A_DEAD_PEER = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}

_BOUNDED = " -c lock_timeout=10s -c statement_timeout=30s"

Connection = AsyncConnection[TupleRow]


class Database:
    """A pool of connections; an asynchronous context manager around its use.

    `for_requests` bounds how long a statement may wait for a lock and how long it may run, so that no request hangs.
    """

    def __init__(self, url: str, *, connections: int = 10, for_requests: bool = False) -> None:
        self.url = url
        options = "-c timezone=UTC" + (_BOUNDED if for_requests else "")
        self.pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=WAIT_SECONDS,
            # Between attempts the pool waits longer and longer: giving up early lets the next request try at once.
            reconnect_timeout=WAIT_SECONDS,
            kwargs={"autocommit": True, "connect_timeout": 5, "options": options, **NOTICE_A_DEAD_PEER},
        )

    async def __aenter__(self) -> Self:
        await self.pool.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.pool.close()
