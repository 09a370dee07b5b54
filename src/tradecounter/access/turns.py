"""Lets one sign-in of an address be checked at a time, so that a flood from an address delays only itself.

A sign-in that waits for its turn holds no connection. Each process of a site has turns of its own; the counts of wrong
passwords are in the database.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from msgspec import Struct, field

from tradecounter.access.guessing import SlowedAddressError, slowed_address
from tradecounter.edge.server.counted_log import CountedLog
from tradecounter.kit.errors import DomainError, Kind

MOST_WAITING = 20  # of an address; people behind one address sign in at the same time in the morning
_FREE_REJECTIONS = 3  # at the same time, of an address; a flood gets further ones a second later, to send less
_PAUSE_SECONDS = 1
_MOST_SLOWED = 1000


class _Line(Struct):
    """The sign-ins of an address that are under way, and the turn."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0


class Turns:
    """The sign-ins that wait, by address. Needs a running event loop."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lines: dict[str, _Line] = {}
        self._slowed: dict[str, datetime] = {}  # until when; the database knows, this spares it
        self._rejected = CountedLog("sign-in from an address that is slowed down rejected")

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Run a block when all earlier sign-ins of an address are through.

        Raises DomainError (too many requests) while the address is slowed down, and when too many wait already.
        """
        line = self._lines.setdefault(address, _Line())
        line.length += 1
        try:
            await self._check(address, line)
            async with line.turn:
                self._check_slowed(address)
                yield
        except SlowedAddressError as error:
            self._rejected.add(address=address)
            self._note(address, error)
            raise
        finally:
            line.length -= 1
            if not line.length:
                del self._lines[address]

    async def _check(self, address: str, line: _Line) -> None:
        error: DomainError | None = None
        try:
            self._check_slowed(address)
        except SlowedAddressError as slowed:
            error = slowed
        if line.length > MOST_WAITING:
            message = f"too many sign-ins at once from your address: try again in {_PAUSE_SECONDS} second"
            error = error or DomainError(Kind.TOO_MANY_REQUESTS, message, retry_after=_PAUSE_SECONDS)
        if error is not None:
            if line.length > _FREE_REJECTIONS:
                await asyncio.sleep(_PAUSE_SECONDS)
            raise error

    def _check_slowed(self, address: str) -> None:
        until = self._slowed.get(address)
        if until is None:
            return
        left = until - self._now()
        if left <= timedelta(0):
            self._slowed.pop(address, None)
            return
        raise slowed_address(left)

    def _note(self, address: str, error: SlowedAddressError) -> None:
        if len(self._slowed) >= _MOST_SLOWED:
            now = self._now()
            self._slowed = {each: until for each, until in self._slowed.items() if until > now}
        if len(self._slowed) < _MOST_SLOWED:
            self._slowed.setdefault(address, self._now() + timedelta(seconds=error.retry_after or 0))
