"""The job queue's state: live workers, due jobs and failed jobs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Workers:
    """The number of workers with a recent heartbeat, and the time of the last heartbeat of any worker."""

    alive: int
    last_heartbeat: datetime | None


_WORKERS_HEARD_OF = Statement(
    """
    select count(*) filter (where last_heartbeat > now() - make_interval(secs => :silent_seconds)) as alive,
           max(last_heartbeat) as last_heartbeat
    from procrastinate_workers
    """,
    Workers,
)


async def workers_heard_of(tx: Transaction, silent_seconds: float) -> Workers:
    """Return the workers' state; a worker without a heartbeat for `silent_seconds` is not alive."""
    found = await tx.fetch_one(_WORKERS_HEARD_OF, silent_seconds=silent_seconds)
    return found or Workers(0, None)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The number of due jobs, how long the oldest has been due, and the number of jobs scheduled for later."""

    due: int
    oldest: timedelta | None
    later: int


_WAITING_JOBS = Statement(
    """
    select count(*) filter (where due) as due, count(*) filter (where not due) as later,
           now() - min(coalesce(scheduled_at, queued_at)) filter (where due) as oldest
    from (
        select scheduled_at, coalesce(scheduled_at, '-infinity') <= now() as due,
               (select min(e.at) from procrastinate_events e where e.job_id = j.id) as queued_at
        from procrastinate_jobs j where status = 'todo'
    ) as waiting
    """,
    Waiting,
)


async def waiting_jobs(tx: Transaction) -> Waiting:
    """Return the state of the jobs that have not started."""
    found = await tx.fetch_one(_WAITING_JOBS)
    return found or Waiting(0, None, 0)


@dataclass(frozen=True, slots=True)
class FailedJobs:
    """The number of a task's jobs that have failed permanently."""

    task_name: str
    count: int


_FAILED_JOBS = Statement(
    "select task_name, count(*) as count from procrastinate_jobs where status = 'failed' group by 1 order by 1",
    FailedJobs,
)


async def failed_jobs(tx: Transaction) -> list[FailedJobs]:
    """Return the number of permanently failed jobs of each task."""
    return await tx.fetch_all(_FAILED_JOBS)
