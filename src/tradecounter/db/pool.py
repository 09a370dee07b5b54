"""The process's connections to PostgreSQL."""

from types import TracebackType
from typing import Self

from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

WAIT_SECONDS = 5.0  # for a connection, before the database counts as away

Connection = AsyncConnection[TupleRow]


class Database:
    """A pool of connections; an asynchronous context manager around its use."""

    def __init__(self, url: str, *, connections: int = 10) -> None:
        self.url = url
        self.pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=WAIT_SECONDS,
            kwargs={"autocommit": True, "connect_timeout": 5, "options": "-c timezone=UTC"},
        )

    async def __aenter__(self) -> Self:
        await self.pool.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.pool.close()
