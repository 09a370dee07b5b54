"""Reads pages of the event log, and waits for events: one query a tick serves all waiting requests of a process."""

import asyncio
from collections.abc import Sequence
from contextvars import Context

from msgspec import Struct, field

from tradecounter.db.pool import Database, FailureLog
from tradecounter.db.transaction import reading
from tradecounter.events.queries import Arrival, EventPage, EventQuery, read_arrivals, read_events

_TICK_SECONDS = 0.1
_PAUSE_SECONDS = 1.0  # after a failure
_MOST_ARRIVALS = 10_000  # in one tick


class _Waiting(Struct, eq=False):
    """A request that waits for an event after a sequence; there is none for it up to the sequence `seen`."""

    wanted: EventQuery
    seen: int
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def look_at(self, own: Sequence[Arrival], last: int) -> None:
        """Note arrivals that its customer may see, of all up to a sequence."""
        types = self.wanted.types
        if any(each.sequence > self.seen and (types is None or each.type in types) for each in own):
            self.done.set()
        self.seen = max(self.seen, last)


class EventFeed:
    """Serves pages of the event log; `stopping` ends all waits."""

    def __init__(self, database: Database, stopping: asyncio.Event) -> None:
        self._database = database
        self._stopping = stopping
        self._waiting: set[_Waiting] = set()
        self._polling: asyncio.Task[None] | None = None
        self._failures = FailureLog("waiting requests see no new events")

    async def page(self, wanted: EventQuery, wait_seconds: float = 0) -> EventPage:
        """Return a page of the log. While it is empty, wait for an event, and use no connection meanwhile."""
        page = await self._read(wanted)
        if page.events or not wait_seconds or self._stopping.is_set():
            return page
        return await self._read(wanted) if await self._arrives(wanted, page.last, wait_seconds) else page

    async def _read(self, wanted: EventQuery) -> EventPage:
        async with reading(self._database) as tx:
            return await read_events(tx, wanted)

    async def _arrives(self, wanted: EventQuery, seen: int, wait_seconds: float) -> bool:
        """Wait for an event on the page; return whether there is one."""
        waiting = _Waiting(wanted, max(seen, wanted.after))
        self._waiting.add(waiting)
        if self._polling is None or self._polling.done():
            # Not in the context of this request: the limit on its customer's connections (`db/fair_shares.py`) must not
            # delay all others.
            self._polling = asyncio.create_task(self._poll(), context=Context())
        try:
            async with asyncio.timeout(wait_seconds):
                await waiting.done.wait()
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(waiting)
        return not self._stopping.is_set()

    async def _poll(self) -> None:
        while self._waiting:
            await asyncio.sleep(_TICK_SECONDS)
            if self._stopping.is_set():
                for waiting in self._waiting:
                    waiting.done.set()
                return
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001 it is logged, and the next tick tries again
                self._failures.add(error)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _look(self) -> None:
        after = min((waiting.seen for waiting in self._waiting), default=None)
        if after is None:
            return
        async with reading(self._database) as tx:
            arrivals = await read_arrivals(tx, after, _MOST_ARRIVALS)
        if not arrivals:
            return
        # Grouped once: thousands of events may arrive together, one for each customer, while as many requests wait.
        seen_by: dict[int | None, list[Arrival]] = {}
        for arrival in arrivals:
            if arrival.for_customer:
                seen_by.setdefault(arrival.customer_id, []).append(arrival)
        seen_by[None] = arrivals  # the reseller
        for waiting in self._waiting:
            waiting.look_at(seen_by.get(waiting.wanted.customer_id, ()), arrivals[-1].sequence)
