"""Records the failures of jobs: one that is tried again in the log, one that is given up as an event."""

from collections.abc import Awaitable, Callable
from typing import Any

import procrastinate
import structlog

from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.events.record import record_event
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError

log = structlog.get_logger()

Middleware = Callable[[Callable[[], Awaitable[Any]], procrastinate.JobContext, Any], Awaitable[Any]]


def noting_failures(database: Database, clock: Clock) -> Middleware:
    """Return what a worker runs each job in."""

    async def run(call_next: Callable[[], Awaitable[Any]], context: procrastinate.JobContext, _worker: Any) -> Any:
        job = context.job
        try:
            return await call_next()
        except Exception as error:
            retry = context.task.get_retry_exception(error, job)
            if retry is None:
                data = {
                    "id": job.id,
                    "name": job.task_name,
                    "arguments": job.task_kwargs,
                    "error": type(error).__name__,
                }
                if isinstance(error, DomainError):
                    data["message"] = error.message
                async with transaction(database) as tx:
                    record_event(tx, "job.failed", f"job/{job.id}", clock.now(), None, data)
            else:
                log.warning(
                    "a job failed, trying again later",
                    job=job.task_name,
                    arguments=job.task_kwargs,
                    attempts=job.attempts + 1,
                    again_at=f"{retry.retry_decision.retry_at:%Y-%m-%dT%H:%M:%SZ}",
                    error=f"{type(error).__name__}: {error}",
                )
            raise

    return run
