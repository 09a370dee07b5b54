"""`/api/job`: background jobs."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.db.jobs import Job, JobState, jobs_after
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.jobs.retry_job import retry_job

_EXAMPLE = Job(
    id=42,
    name="mail_order_confirmed",
    state="failed",
    arguments={"order_id": 4},
    attempts=6,
    scheduled_at=None,
    at=datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC),
)
_JOBS = Subject(
    tag="Operations", read="events:read", write="events:write", described={Job: Described("The job.", _EXAMPLE)}
)

JobId = Annotated[int, InPath("id", "The job's id.", 42, "job")]


class JobListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/job`."""

    state: Annotated[JobState | None, Meta(description="Only jobs in this state.", examples=["todo"])] = None


class JobOperations(Struct, frozen=True):
    """The endpoints of background jobs."""

    desk: Desk

    @_JOBS.lists("/api/job", "The jobs.")
    async def list_jobs(self, tx: Transaction, query: JobListParameters) -> ListPage[Job]:
        """Background jobs.

        E-mails and other work. Jobs that succeed are deleted.
        """
        jobs = await jobs_after(tx, query.state, query.after, query.limit + 1, query.since)
        return ListPage(jobs, jobs)

    @_JOBS.changes("POST", "/api/job/{id}/retry", roles=("support", "administrator"))
    async def retry_job(self, tx: Transaction, now: datetime, job_id: JobId) -> Job:
        """Run a failed job again."""
        return await retry_job(tx, job_id, now)
