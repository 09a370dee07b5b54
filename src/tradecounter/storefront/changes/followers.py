"""Requests that wait for a change: each refresh of the storefront wakes those whose customers it may concern.

They cost no query. What a refresh changed is found once, not once for each request.
"""

import asyncio
from contextlib import suppress
from contextvars import Context

from msgspec import Struct

from tradecounter.storefront.changes.concerns import concerns_of
from tradecounter.storefront.changes.differences import Outlook
from tradecounter.storefront.storefront import Storefront

_LOOK_FOR_THE_END_SECONDS = 0.2


class _Waiting(Struct, eq=False):
    customer_id: int
    for_any: bool
    woken: asyncio.Future[None]

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class Followers:
    """The waiting requests of a process; `stopping` ends all waits."""

    def __init__(self, storefront: Storefront, stopping: asyncio.Event) -> None:
        self._storefront = storefront
        self._stopping = stopping
        self._waiting: set[_Waiting] = set()
        self._before: Outlook | None = None
        self._end: asyncio.Task[None] | None = None
        storefront.shown = self._look

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_ending(self) -> bool:
        """Whether the process stops."""
        return self._stopping.is_set()

    async def wait(self, customer_id: int, seconds: float, *, for_any: bool = False) -> None:
        """Wait for a refresh that may concern the customer, or `for_any`, for at most `seconds`.

        A caller that has looked at the storefront and not awaited anything since misses no refresh.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(customer_id, for_any, loop.create_future())
        self._waiting.add(waiting)
        if self._end is None or self._end.done():
            self._end = asyncio.create_task(self._wake_at_the_end(), context=Context())
        timer = loop.call_later(seconds, waiting.wake)
        try:
            await waiting.woken
        finally:
            timer.cancel()
            self._waiting.discard(waiting)

    def _look(self) -> None:
        """Wake the requests that the latest refresh may concern."""
        before, self._before = self._before, self._storefront.outlook()
        if not self._waiting:
            return
        concerns = None if before is None else concerns_of(before, self._before)
        is_quiet = concerns is not None and concerns.nobody
        for waiting in self._waiting:
            if waiting.for_any or concerns is None or (not is_quiet and concerns.customer(waiting.customer_id)):
                waiting.wake()

    async def _wake_at_the_end(self) -> None:
        """Wake all requests when the process stops, also while the database is away."""
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _LOOK_FOR_THE_END_SECONDS)
                break
        for waiting in self._waiting:
            waiting.wake()
