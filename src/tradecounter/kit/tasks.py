"""Ends background tasks."""

import asyncio
from contextlib import suppress
from typing import Any

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
