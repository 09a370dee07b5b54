"""A connection to the database, whose socket the event loop keeps watching between round trips."""

import asyncio
import itertools
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import msgspec
import psycopg
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.adapt import Transformer
from psycopg.pq.abc import PGconn
from psycopg.rows import TupleRow
from psycopg.types.json import set_json_loads
from psycopg.waiting import Ready, Wait, wait_async

from tradecounter.kit.telemetry import SPANS

Waited = TypeVar("Waited")

_NO_SPAN = nullcontext()
_WAKE_UP = 1.0  # seconds; wait_async's default of 0 polls without a pause
_CANCEL_SECONDS = 5.0
_numbers = itertools.count(1)


class Connection(AsyncConnection[TupleRow]):
    """A connection with its prepared statements.

    Attributes:
        number: unique in the process.
        made_at: when it was opened, in monotonic seconds.
        prepared: the names of the prepared statements.
        loading: converts the values of results.
        sending: the statements of the next round trip, if traces are on.
    """

    def __init__(self, pgconn: PGconn, *values: Any, **options: Any) -> None:
        super().__init__(pgconn, *values, **options)
        self.number = next(_numbers)
        self.made_at = time.monotonic()
        set_json_loads(msgspec.json.decode, self)
        self.prepared: set[bytes] = set()
        self.loading = Transformer(self)
        self.sending = ""
        self._watched: int | None = None  # the socket that the event loop watches
        self._readable: asyncio.Future[None] | None = None

    async def wait(self, gen: PQGen[Waited], *arguments: Any, **options: Any) -> Waited:
        """Send and receive for the driver's cursors."""
        self._unwatch()
        with self.span():
            return await super().wait(gen, *arguments, **options)

    async def close(self) -> None:
        """Close the connection."""
        self._unwatch()
        await super().close()

    async def exchange(self, gen: PQGen[None], seconds: float | None = None) -> None:
        """Send and receive for pipelines. Raises psycopg.Error; TimeoutError after `seconds`.

        Unlike `wait`, it keeps watching the socket with the event loop, which saves six system calls per round trip.
        """
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        with self.span():
            try:
                wanted = next(gen)
                while wanted == Wait.R:
                    await self._until_readable(deadline)
                    wanted = gen.send(Ready.R)
                self._unwatch()  # there is more to send than the socket takes at once
                async with asyncio.timeout_at(deadline):
                    await wait_async(_continued(gen, wanted), self.pgconn.socket, interval=_WAKE_UP)
            except StopIteration:
                return
            except BaseException:
                self._unwatch()  # before anything else can get the number of a closed socket
                raise

    async def _until_readable(self, deadline: float | None) -> None:
        loop = asyncio.get_running_loop()
        self._watched = self.pgconn.socket
        try:
            loop.add_reader(self._watched, self._note_readable)  # costs no system call if it is watched already
        except RuntimeError:
            # uvloop has stopped watching: the connection was reset. Data that came before may be left to read.
            loop.remove_reader(self._watched)
            loop.add_reader(self._watched, self._note_readable)
        self._readable = loop.create_future()
        timer = None if deadline is None else loop.call_at(deadline, _time_out, self._readable)
        try:
            await self._readable
        finally:
            self._readable = None
            if timer is not None:
                timer.cancel()

    def _note_readable(self) -> None:
        if self._readable is None:
            self._unwatch()  # the database has ended the connection, or sends what nobody has asked for
        elif not self._readable.done():
            self._readable.set_result(None)

    def _unwatch(self) -> None:
        if self._watched is not None:
            asyncio.get_running_loop().remove_reader(self._watched)
            self._watched = None

    async def end_cancelled(self, gen: PQGen[None]) -> None:
        """End the statements of an exchange whose caller was cancelled, or close the connection."""
        try:
            await self.cancel_safe(timeout=_CANCEL_SECONDS)
            await wait_async(gen, self.pgconn.socket, interval=_WAKE_UP, timeout=_CANCEL_SECONDS)
        except psycopg.errors.QueryCanceled:
            pass
        except BaseException:
            self.pgconn.finish()
            raise

    def span(self) -> AbstractContextManager[None]:
        """Record the next round trip, if traces are on."""
        if SPANS.recorder is None:
            return _NO_SPAN
        text, self.sending = self.sending, ""
        return SPANS.recorder.round_trip(text)


def _continued(gen: PQGen[None], wanted: Wait) -> PQGen[None]:
    """Go on with a generator that is waiting."""
    while True:
        ready = yield wanted
        try:
            wanted = gen.send(ready)
        except StopIteration:
            return


def _time_out(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_exception(TimeoutError())
