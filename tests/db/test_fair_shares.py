"""Each customer gets a share of the connections; further requests wait in order."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

import pytest

from tradecounter.db import fair_shares
from tradecounter.db.fair_shares import FairShares, act_for
from tradecounter.kit.errors import DomainError, Kind

Work = Callable[[], Coroutine[Any, Any, None]]


def start(customer_id: int | None, work: Work) -> asyncio.Task[None]:
    """Run `work` in a task for a customer, as a request does."""

    async def run() -> None:
        if customer_id is not None:
            act_for(customer_id)
        await work()

    return asyncio.create_task(run(), context=copy_context())


async def idle() -> None:
    """Run the event loop until all tasks wait."""
    for _ in range(20):
        await asyncio.sleep(0)


class Counter:
    """Takes slots and keeps them until `finish` is set."""

    def __init__(self, connections: int) -> None:
        self.shares = FairShares(connections)
        self.began: list[tuple[int | None, int]] = []
        self.finish = asyncio.Event()

    def take(self, customer_id: int | None, number: int) -> asyncio.Task[None]:
        async def work() -> None:
            async with self.shares.slot():
                self.began.append((customer_id, number))
                await self.finish.wait()

        return start(customer_id, work)


@pytest.mark.parametrize(("connections", "at_a_time"), [(1, 1), (4, 1), (7, 2), (10, 3), (100, 30)])
def test_a_customer_has_three_tenths_of_the_connections_and_at_least_one(connections: int, at_a_time: int) -> None:
    async def work() -> None:
        counter = Counter(connections)
        tasks = [counter.take(1, number) for number in range(at_a_time + 5)]
        await idle()
        assert len(counter.began) == at_a_time
        counter.finish.set()
        await asyncio.gather(*tasks)
        assert counter.began == [(1, number) for number in range(at_a_time + 5)]

    asyncio.run(work())


def test_other_customers_and_work_without_a_customer_do_not_wait() -> None:
    async def work() -> None:
        counter = Counter(connections=3)
        tasks = [counter.take(customer, number) for customer in (1, 2, None) for number in range(4)]
        await idle()
        assert counter.began == [(1, 0), (2, 0), (None, 0), (None, 1), (None, 2), (None, 3)]
        counter.finish.set()
        await asyncio.gather(*tasks)

    asyncio.run(work())


def test_cancelled_requests_are_skipped_and_leave_no_state() -> None:
    async def work() -> None:
        counter = Counter(connections=1)
        tasks = [counter.take(1, number) for number in range(4)]
        await idle()
        tasks[1].cancel()
        tasks[0].cancel()
        await idle()
        assert counter.began == [(1, 0), (1, 2)]
        counter.finish.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert counter.began == [(1, 0), (1, 2), (1, 3)]
        assert counter.shares._shares == {}  # noqa: SLF001 it must not grow with every customer

    asyncio.run(work())


def test_waiting_for_a_slot_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_shares, "_LONGEST_WAIT_SECONDS", 0.01)

    async def work() -> None:
        counter = Counter(connections=1)
        running, waiting = counter.take(1, 0), counter.take(1, 1)
        with pytest.raises(DomainError) as raised:
            await waiting
        assert (raised.value.kind, raised.value.retry_after) == (Kind.UNAVAILABLE, 5)
        counter.finish.set()
        await running

    asyncio.run(work())
