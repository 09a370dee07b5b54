"""Ends background tasks."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
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


async def drop_tasks(tasks: Iterable[asyncio.Task[Any]], what: str) -> None:
    """Cancel tasks whose results nobody needs, and log the errors with which they end.

    asyncio would report such an error at some later time, without its cause.
    """
    for task in list(tasks):
        try:
            await end_task(task)
        except Exception as error:  # noqa: BLE001 whatever it is, nobody waits for the result
            log.warning("a task ended with an error", task=what, error=type(error).__name__, reason=str(error).strip())
