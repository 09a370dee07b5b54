"""Queues jobs in the transaction that causes them, and reads the queue: live workers, due jobs and failed jobs.

The slices register tasks under the names in `JobName` (`sites/worker.py` collects them).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from psycopg.sql import SQL

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, or_not_found
from tradecounter.kit.wire import Moment, Timed

SILENT_SECONDS = 20.0  # seconds without a heartbeat after which a worker counts as dead

JobName = Literal[
    "mail_quote_requested",
    "mail_quote_received",
    "mail_quote_priced",
    "mail_quote_expiring",
    "mail_approval_requested",
    "mail_approval_decided",
    "mail_order_confirmed",
    "mail_order_expected_date",
    "mail_order_cancelled",
    "mail_order_changed",
    "mail_order_dispatched",
    "mail_shipment_taken_back",
    "mail_order_invoiced",
    "mail_invoice_copy",
    "mail_payment_received",
    "mail_user_invited",
    "mail_user_password",
    "mail_user_browser",
    "mail_owner_added",
    "mail_key_added",
    "mail_webhook_added",
    "mail_application_allowed",
    "mail_agent_allowed",
    "mail_webhook_stopped",
    "mail_back_in_stock",
    "mail_dispatch_alert",
    "mail_invoices_due",
    "mail_prices_changed",
    "mail_request_opened",
    "mail_request_closed",
    "mail_credit_note",
    "mail_invoice_overdue",
    "mail_debtor_reminded",
    "mail_statement",
    "invoice_dispatch",
    "find_forgotten_password",
]

# The queue library's own client would need another round trip per job.
_DEFER = Statement("""
    select from procrastinate_defer_jobs_v1(array[
        row('default', :job::text, 0, :lock::text, null, :arguments::jsonb,
            now() + make_interval(secs => :wait::integer))::procrastinate_job_to_defer_v1
    ])
""")


def queue(
    tx: Transaction, job: JobName, group: str | None = None, wait: int | None = None, /, **arguments: int
) -> None:
    """Queue a job that runs after this transaction commits, `wait` seconds from now, without an extra round trip.

    Jobs of a group run one at a time, in queue order, also while the first waits. `arguments` are ids.
    """
    tx.queue(_DEFER, job=job, lock=group, wait=wait, arguments=json_of(arguments))


_REMOVE_QUEUED = Statement(
    "select procrastinate_cancel_job_v1(id, false, true) from procrastinate_jobs"
    " where status = 'todo' and task_name = coalesce(:job, task_name) and (args->>'order_id')::bigint = any(:order_ids)"
)


async def remove_queued(tx: Transaction, order_ids: Sequence[int], job: JobName | None = None) -> None:
    """Remove these orders' jobs that have not started; with `job`, only jobs with this name."""
    await tx.fetch_all(_REMOVE_QUEUED, job=job, order_ids=list(order_ids))


class Workers(Struct, frozen=True):
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
    return await tx.fetch_row(_WORKERS_HEARD_OF, silent_seconds=silent_seconds)


class WaitingJobs(Struct, frozen=True):
    """The number of due jobs, how long the oldest has been due, and the number of jobs that start later.

    Only the first job of a group is due: the others start after it.
    """

    due: int
    oldest: timedelta | None
    later: int


_WAITING_JOBS = Statement(
    """
    select count(*) filter (where due) as due, count(*) filter (where not due) as later,
           now() - min(coalesce(scheduled_at, queued_at)) filter (where due) as oldest
    from (
        select status, scheduled_at,
               coalesce(scheduled_at, '-infinity') <= now()
                   and (lock is null or id = min(id) over (partition by lock)) as due,
               (select min(e.at) from procrastinate_events e where e.job_id = j.id) as queued_at
        from procrastinate_jobs j where status in ('todo', 'doing')
    ) as unfinished where status = 'todo'
    """,
    WaitingJobs,
)


async def waiting_jobs(tx: Transaction) -> WaitingJobs:
    """Return the state of the jobs that have not started."""
    return await tx.fetch_row(_WAITING_JOBS)


class FailedJobs(Struct, frozen=True):
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


JobState = Literal["todo", "doing", "failed", "cancelled", "aborting", "aborted", "succeeded"]


class Job(Timed, Struct, frozen=True):
    """A background job; `at` is when its state last changed."""

    id: int
    name: Annotated[str, Meta(description="What it does.", examples=["mail_order_confirmed"])]
    state: JobState
    arguments: Annotated[dict[str, Any], Meta(description="The ids that it works on.")]
    attempts: int
    scheduled_at: Annotated[Moment | None, Meta(description="When it runs next; null: as soon as possible.")]
    at: Moment | None


_JOB = SQL(
    "select j.id, j.task_name as name, j.status::text as state, j.args as arguments, j.attempts, j.scheduled_at,"
    " (select max(e.at) from procrastinate_events e where e.job_id = j.id) as at from procrastinate_jobs j where "
)
_JOBS_AFTER = Statement(
    SQL(
        "{} j.id > :after and (:state::text is null or j.status::text = :state)"
        " and (:changed_since::timestamptz is null"
        " or exists (select from procrastinate_events e where e.job_id = j.id and e.at >= :changed_since))"
        " order by j.id limit :most"
    ).format(_JOB),
    Job,
)


async def jobs_after(
    tx: Transaction, state: JobState | None, after: int, most: int, changed_since: datetime | None = None
) -> list[Job]:
    """Return the first jobs in a state, or in any, that have a higher id; those whose state changed since a moment."""
    return await tx.fetch_all(_JOBS_AFTER, state=state, after=after, most=most, changed_since=changed_since)


_JOBS_BEFORE = Statement(
    SQL(
        "{} (:before::bigint is null or j.id < :before) and (:state::text is null or j.status::text = :state)"
        " order by j.id desc limit :most"
    ).format(_JOB),
    Job,
)


async def latest_jobs(tx: Transaction, state: JobState | None, before: int | None, most: int) -> list[Job]:
    """Return the latest jobs in a state, or in any, that have a lower id."""
    return await tx.fetch_all(_JOBS_BEFORE, state=state, before=before, most=most)


_LOCK_JOB = Statement(SQL("{} j.id = :id for update of j").format(_JOB), Job)
_RETRY = Statement("select procrastinate_retry_job_v2(:id, now(), null, null, null)")


async def requeue_failed_job(tx: Transaction, job_id: int) -> Job:
    """Queue a failed job again, and return it. Raises DomainError: not found, conflict (it has not failed)."""
    found = await tx.find_row(_LOCK_JOB, id=job_id)
    job = or_not_found(found, "job", job_id)
    if job.state != "failed":
        raise DomainError(Kind.CONFLICT, f"job {job_id} has not failed: its state is {job.state}")
    await tx.fetch_all(_RETRY, id=job_id)
    return await tx.fetch_row(_LOCK_JOB, id=job_id)
