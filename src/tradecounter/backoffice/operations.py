"""`/api/job` and `/api/audit`."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from starlette.responses import Response

from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.audit.wire import AuditEntry, entry_on_the_wire
from tradecounter.backoffice import examples
from tradecounter.backoffice.desk import NEXT, POST_HEADERS, Desk, Nothing, PageParameters, moment, page, text
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.operations_wire import Job
from tradecounter.db.job_queue import JobState, jobs_after
from tradecounter.db.transaction import Transaction
from tradecounter.notifications.retry_job import retry_job
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import ID, Operation, Parameter, Success, endpoint


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
class OperationsDesk:
    """The endpoints of background jobs and the audit log."""

    desk: Desk

    @endpoint(
        Operation(
            method="GET",
            path="/api/job",
            name="listJobs",
            tag="Operations",
            summary="Background jobs",
            description="E-mails and other work. Jobs that succeed are deleted.",
            query=JobListParameters,
            success=Success(200, "The jobs.", list[Job], {"List": [examples.JOB]}, headers=(NEXT,)),
            scope="events:read",
        )
    )
    async def list_jobs(self, call: Call) -> Response:
        wanted = call.query(JobListParameters)
        async with self.desk.reading() as tx:
            found = await jobs_after(tx, wanted.state, wanted.after, wanted.limit + 1)
        shown = (Job(**asdict(job)) for job in found[: wanted.limit])
        return page(call, found, wanted.limit, lambda job: job.id, shown)

    @endpoint(
        Operation(
            method="POST",
            path="/api/job/{id}/retry",
            name="retryJob",
            tag="Operations",
            summary="Run a failed job again",
            path_parameters=(Parameter("id", "The job's id.", ID, 42),),
            request_headers=POST_HEADERS,
            success=Success(200, "The job.", Job, {"Job": examples.JOB}, headers=(IDEMPOTENT_REPLAY,)),
            errors=(NOT_FOUND, CONFLICT),
            scope="events:write",
            roles=("support", "administrator"),
        )
    )
    async def retry_job(self, call: Call) -> Response:
        job_id = call.path_id("id", "job")

        async def work(tx: Transaction, _body: Nothing, now: datetime) -> Job:
            return Job(**asdict(await retry_job(tx, job_id, now)))

        return await self.desk.change(call, Nothing, work)

    @endpoint(
        Operation(
            method="GET",
            path="/api/audit",
            name="listAuditEntries",
            tag="Operations",
            summary="Who changed what, and when",
            query=AuditParameters,
            success=Success(200, "The entries.", list[AuditEntry], {"List": [examples.AUDIT_ENTRY]}, headers=(NEXT,)),
            scope="audit:read",
        )
    )
    async def list_entries(self, call: Call) -> Response:
        wanted = call.query(AuditParameters)
        chosen = AuditFilter(
            actor=text("actor", wanted.actor),
            subject=text("subject", wanted.subject),
            since=moment("from", wanted.since),
            until=moment("to", wanted.until, whole_day=True),
            after=wanted.after,
        )
        async with self.desk.reading() as tx:
            found = await list_entries(tx, chosen, wanted.limit + 1)
        return page(call, found, wanted.limit, lambda entry: entry.id, map(entry_on_the_wire, found[: wanted.limit]))
