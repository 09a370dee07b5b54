"""Records the failures of jobs: one that is tried again in the log, one that is given up as an event."""

from collections.abc import Awaitable, Callable
from typing import Any

import procrastinate
import structlog

from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.events.record import record_event
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, OperatorError

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
            name = type(error).__name__
            about = {"id": job.id, "name": job.task_name, "arguments": job.task_kwargs, "error": name}
            if retry is None:
                said = {"message": str(error)} if isinstance(error, DomainError | OperatorError) else {}
                async with transaction(database) as tx:
                    record_event(tx, "job.failed", f"job/{job.id}", clock.now(), None, about | said)
            else:
                again_at = f"{retry.retry_decision.retry_at:%Y-%m-%dT%H:%M:%SZ}"
                log.warning("a job failed, trying again later", **about, message=str(error), again_at=again_at)
            raise

    return run
