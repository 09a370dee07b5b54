"""Jobs whose worker was killed: put back into the queue by whichever worker notices first."""

import psycopg
import structlog
from procrastinate.exceptions import ConnectorException
from procrastinate.manager import JobManager

from tradecounter.db.advisory_locks import TRY_TO_REQUEUE_STALLED_JOBS
from tradecounter.db.transaction import Transaction

log = structlog.get_logger()


async def put_back_stalled_jobs(tx: Transaction, jobs: JobManager, silent_seconds: float) -> int:
    """Put back the jobs of workers that have not been heard of for so long; return how many.

    One worker at a time does this: a second one that read the list before the first was done would put back jobs that
    have been taken on since.
    """
    if not await tx.fetch_value(TRY_TO_REQUEUE_STALLED_JOBS):
        return 0
    count = 0
    for job in await jobs.get_stalled_jobs(seconds_since_heartbeat=silent_seconds):
        try:
            await jobs.retry_job(job)
        except ConnectorException as error:
            if isinstance(error.__cause__, psycopg.OperationalError):
                raise
            # It ended after all, or waits behind one of its kind that is in the queue already: looked at next time.
            continue
        log.warning("job of a worker that is gone put back", job=job.task_name, arguments=job.task_kwargs)
        count += 1
    return count
