"""Requeues the jobs of workers that were killed; only workers import this, and with it the library of the queue."""

import psycopg
import structlog
from procrastinate.exceptions import ConnectorException
from procrastinate.manager import JobManager

from tradecounter.db.advisory_locks import TRY_TO_REQUEUE_STALLED_JOBS
from tradecounter.db.transaction import Transaction

log = structlog.get_logger()


async def requeue_stalled_jobs(tx: Transaction, jobs: JobManager, silent_seconds: float) -> None:
    """Requeue the jobs of workers without a heartbeat for `silent_seconds`.

    One worker at a time requeues jobs: a second worker with an older list would requeue restarted jobs.
    """
    if not await tx.fetch_value(TRY_TO_REQUEUE_STALLED_JOBS):
        return
    for job in await jobs.get_stalled_jobs(seconds_since_heartbeat=silent_seconds):
        try:
            await jobs.retry_job(job)
        except ConnectorException as error:
            if isinstance(error.__cause__, psycopg.OperationalError):
                raise
            continue  # the job has ended, or another job with its queueing lock is queued; the next check decides
        log.warning("job of a dead worker requeued", job=job.task_name, arguments=job.task_kwargs)
