"""Background work: ends tasks, does something seldom, and keeps the garbage collector away from imports."""

import asyncio
import gc
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import structlog

log = structlog.get_logger()

_AGAIN_SECONDS = 1.0


async def end_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task until it has ended, and raise the error with which it ended, if any.

    One cancellation may not be enough: when a connection breaks while a transaction is rolled back, the connection's
    error replaces the cancellation, and a loop that survives errors goes on.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_AGAIN_SECONDS)
    with suppress(asyncio.CancelledError):
        task.result()


@asynccontextmanager
async def in_background(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run work that does not end by itself while the block runs."""
    task = asyncio.create_task(work())
    try:
        yield
    finally:
        await end_task(task)


async def drop_tasks(tasks: Iterable[asyncio.Task[Any]], what: str) -> None:
    """Cancel tasks whose results nobody needs, and log the errors with which they end.

    asyncio would report such an error at some later time, without its cause.
    """
    for task in list(tasks):
        try:
            await end_task(task)
        except Exception as error:  # noqa: BLE001 whatever it is, nobody waits for the result
            log.warning("a task ended with an error", task=what, error=type(error).__name__, reason=str(error).strip())


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector while the block imports modules, where there is nothing to collect."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


REPEAT_SECONDS = 30.0


class Seldom:
    """Says when a repeated line is due again, and counts the lines that were left out since the last one."""

    def __init__(self, seconds: float = REPEAT_SECONDS) -> None:
        self._seconds = seconds
        self._logged_at = -math.inf
        self._left_out = 0
        self.left_out = 0  # before the line that is due

    def is_due(self) -> bool:
        """Return whether to log the line now."""
        now = time.monotonic()
        if now - self._logged_at < self._seconds:
            self._left_out += 1
            return False
        self._logged_at = now
        self.left_out, self._left_out = self._left_out, 0
        return True
