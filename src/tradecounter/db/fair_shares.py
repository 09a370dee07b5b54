"""Limits how many connections of this process a customer uses at the same time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from msgspec import Struct

from tradecounter.kit.errors import DomainError, Kind

IMPORTS = 0  # instead of a customer's id; together they have one share, because each may last for minutes

_LONGEST_WAIT_SECONDS = 15.0
_RETRY_SECONDS = 5

_customer: ContextVar[int | None] = ContextVar("customer", default=None)


def act_for(customer_id: int) -> None:
    """Count the current task's database connections towards this customer's share, or that of `IMPORTS`."""
    _customer.set(customer_id)


class _Share(Struct):
    """A customer's requests that use a connection or wait for one."""

    free: asyncio.Semaphore
    requests: int = 0


class FairShares:
    """Lets each customer use three tenths of the connections at the same time, at least one.

    Further requests wait in order of arrival. Work without a customer has no limit.
    """

    def __init__(self, connections: int) -> None:
        self._at_a_time = max(1, connections * 3 // 10)
        self._shares: dict[int, _Share] = {}

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Occupy one of the customer's slots in the block. Raises DomainError (unavailable) after 15 seconds."""
        customer_id = _customer.get()
        if customer_id is None:
            yield
            return
        share = self._shares.get(customer_id)
        if share is None:
            share = self._shares[customer_id] = _Share(asyncio.Semaphore(self._at_a_time))
        share.requests += 1
        try:
            await _wait_for(share.free)
            try:
                yield
            finally:
                share.free.release()
        finally:
            share.requests -= 1
            if not share.requests:
                del self._shares[customer_id]


async def _wait_for(free: asyncio.Semaphore) -> None:
    try:
        async with asyncio.timeout(_LONGEST_WAIT_SECONDS):
            await free.acquire()
    except TimeoutError:
        raise DomainError(
            Kind.UNAVAILABLE,
            f"too many of your requests are under way at the same time; try again in {_RETRY_SECONDS} seconds",
            retry_after=_RETRY_SECONDS,
        ) from None
