"""`/api/job` and `/api/audit`."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.audit.wire import AuditEntry, entry_on_the_wire
from tradecounter.backoffice.desk import Desk, PageParameters, moment, text
from tradecounter.backoffice.examples import DESCRIBED
from tradecounter.backoffice.operations_wire import Job
from tradecounter.backoffice.subject import InPath, Listed, Subject
from tradecounter.db.job_queue import JobState, jobs_after
from tradecounter.db.transaction import Transaction
from tradecounter.notifications.retry_job import retry_job

_OPERATIONS = Subject(tag="Operations", read="events:read", write="events:write", described=DESCRIBED)

JobId = Annotated[int, InPath("id", "The job's id.", 42, "job")]


class JobListParameters(PageParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/job`."""

    state: Annotated[JobState | None, Meta(description="Only jobs in this state.", examples=["todo"])] = None


class AuditParameters(PageParameters, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    """The query parameters of `GET /api/audit`."""

    actor: Annotated[
        str | None, Meta(description="Only changes by this actor: a name, or a kind and an id.", examples=["system"])
    ] = None
    subject: Annotated[str | None, Meta(description="Only changes of this.", examples=["order/ORD-100003"])] = None
    since: Annotated[str | None, Meta(description="Only changes at this time or later.")] = None
    until: Annotated[str | None, Meta(description="Only changes before this time; a date includes the whole day.")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class JobOperations:
    """The endpoints of background jobs and the audit log."""

    desk: Desk

    @_OPERATIONS.lists("/api/job", "The jobs.")
    async def list_jobs(self, tx: Transaction, query: JobListParameters) -> Listed[Job]:
        """Background jobs.

        E-mails and other work. Jobs that succeed are deleted.
        """
        found = await jobs_after(tx, query.state, query.after, query.limit + 1)
        return Listed(found, (Job(**asdict(job)) for job in found))

    @_OPERATIONS.changes("POST", "/api/job/{id}/retry", roles=("support", "administrator"))
    async def retry_job(self, tx: Transaction, now: datetime, job_id: JobId) -> Job:
        """Run a failed job again."""
        return Job(**asdict(await retry_job(tx, job_id, now)))

    @_OPERATIONS.lists("/api/audit", "The entries.", scope="audit:read")
    async def list_audit_entries(self, tx: Transaction, query: AuditParameters) -> Listed[AuditEntry]:
        """Who changed what, and when."""
        chosen = AuditFilter(
            actor=text("actor", query.actor),
            subject=text("subject", query.subject),
            since=moment("from", query.since),
            until=moment("to", query.until, whole_day=True),
            after=query.after,
        )
        found = await list_entries(tx, chosen, query.limit + 1)
        return Listed(found, map(entry_on_the_wire, found))
