"""The manager of the agents' server starts with the first request, and again after a start that failed."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from tradecounter.agents.operations.protocol import session_manager
from tradecounter.agents.operations.server import RunningManager


class _BusyError(Exception):
    pass


def _made() -> StreamableHTTPSessionManager:
    return session_manager([], 1000)


def _run(work: Callable[[RunningManager], Awaitable[None]], *failures: Exception) -> None:
    """Run work with a manager whose first starts fail."""
    left = list(failures)

    def make() -> StreamableHTTPSessionManager:
        if left:
            raise left.pop(0)
        return _made()

    async def whole() -> None:
        running = RunningManager(make)
        try:
            await work(running)
        finally:
            await running.stop()

    asyncio.run(whole())


def test_requests_at_the_same_time_wait_for_one_manager() -> None:
    async def work(running: RunningManager) -> None:
        first, second = await asyncio.gather(running.manager(), running.manager())
        assert first is second is await running.manager()

    _run(work)


def test_the_next_request_starts_it_after_a_start_that_failed() -> None:
    async def work(running: RunningManager) -> None:
        results = await asyncio.gather(running.manager(), running.manager(), return_exceptions=True)
        assert [type(result) for result in results] == [_BusyError, _BusyError]
        assert isinstance(await running.manager(), StreamableHTTPSessionManager)

    _run(work, _BusyError())


def test_requests_do_not_wait_for_a_start_that_was_cancelled() -> None:
    async def work(running: RunningManager) -> None:
        before = asyncio.all_tasks()
        waiting = asyncio.create_task(running.manager())
        await asyncio.sleep(0)
        [start] = asyncio.all_tasks() - before - {waiting}
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(waiting, 10)
        assert isinstance(await running.manager(), StreamableHTTPSessionManager)

    _run(work)
