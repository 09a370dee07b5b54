"""Limits the database connections of one customer, so that others always find a free one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tradecounter.kit.errors import DomainError, Kind

_LONGEST_WAIT_SECONDS = 15.0
_RETRY_SECONDS = 5

_customer: ContextVar[int | None] = ContextVar("customer", default=None)


def act_for(customer_id: int) -> None:
    """Count the current task's database connections against this customer."""
    _customer.set(customer_id)


@dataclass(slots=True)
class _Line:
    """One customer's requests that use the database or wait for it."""

    free: asyncio.Semaphore
    requests: int = 0


class Turns:
    """Lets a few requests of each customer use the database at a time: three of ten connections, at least one.

    The others wait, first come, first served. Work without a customer has no limit.
    """

    def __init__(self, connections: int) -> None:
        self._at_a_time = max(1, connections * 3 // 10)
        self._lines: dict[int, _Line] = {}

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the customer's turn, which lasts while the block runs. Raises DomainError (unavailable)."""
        customer_id = _customer.get()
        if customer_id is None:
            yield
            return
        line = self._lines.get(customer_id)
        if line is None:
            line = self._lines[customer_id] = _Line(asyncio.Semaphore(self._at_a_time))
        line.requests += 1
        try:
            await _wait_for(line.free)
            try:
                yield
            finally:
                line.free.release()
        finally:
            line.requests -= 1
            if not line.requests:
                del self._lines[customer_id]


async def _wait_for(free: asyncio.Semaphore) -> None:
    if not free.locked():
        await free.acquire()
        return
    try:
        async with asyncio.timeout(_LONGEST_WAIT_SECONDS):
            await free.acquire()
    except TimeoutError:
        raise DomainError(
            Kind.UNAVAILABLE,
            f"too many of your requests are under way at the same time; try again in {_RETRY_SECONDS} seconds",
            retry_after=_RETRY_SECONDS,
        ) from None
