"""Keeping what a process holds in memory fresh: one poll for all of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Protocol

import psycopg
import structlog

from tradecounter.db.changes import Versions, read_versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading

log = structlog.get_logger()


class Live(Protocol):
    """Something held in memory that follows the database."""

    async def refresh(self, tx: Transaction, versions: Versions) -> asyncio.Task[Any] | None:
        """Load what has changed. All reads see the database at the moment of `versions`.

        What takes long may go on beside everything else: it is returned, and once it is done the next call takes
        over what it brought.
        """
        ...


class Refresher:
    """Polls the versions of reference data and lets everything held in memory catch up."""

    def __init__(
        self,
        database: Database,
        live: Sequence[Live],
        interval: timedelta,
        afterwards: Callable[[], Awaitable[None]],
    ) -> None:
        self._database = database
        self._live = live
        self._afterwards = afterwards
        self._interval = interval.total_seconds()
        self._one_at_a_time = asyncio.Lock()
        self._under_way: set[asyncio.Task[Any]] = set()
        self.database_answers = True

    async def refresh(self) -> None:
        """Catch up with everything. Raises what the database raises when it is away."""
        while under_way := await self.catch_up():
            await asyncio.wait(under_way)

    async def catch_up(self) -> set[asyncio.Task[Any]]:
        """Catch up with what can be had at once; return what goes on. Raises as `refresh` does."""
        try:
            await self._refresh()
        except psycopg.OperationalError:
            if self.database_answers:
                self.database_answers = False
                await self._database.renew()
            raise
        self.database_answers = True
        return self._under_way

    async def _refresh(self) -> None:
        async with self._one_at_a_time:
            async with reading(self._database) as tx:
                versions = await read_versions(tx)
                under_way = {await live.refresh(tx, versions) for live in self._live}
            self._under_way = {task for task in under_way if task is not None}
            await self._afterwards()  # it may write, and must not wait for a second connection while one is held

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Catch up once, then again and again while the block runs."""
        try:
            await self.refresh()
            async with self._polling():
                yield
        finally:
            for task in self._under_way:
                task.cancel()
            await asyncio.gather(*self._under_way, return_exceptions=True)

    @asynccontextmanager
    async def _polling(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _poll(self) -> None:
        while True:
            under_way = {task for task in self._under_way if not task.done()}
            if under_way:
                await asyncio.wait(under_way, timeout=self._interval)
            else:
                await asyncio.sleep(self._interval)
            try:
                await self.catch_up()
            except psycopg.OperationalError as error:
                log.warning("database away, keeping what is in memory", reason=str(error).strip())
            except Exception:  # whatever it was, the next poll tries again
                log.warning("refresh failed, keeping what is in memory", exc_info=True)
