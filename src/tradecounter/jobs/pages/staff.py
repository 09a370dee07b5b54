"""`/job`: background jobs in words, those that failed first, and running one again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, get_args

from msgspec import Struct

from tradecounter.db.jobs import Job, JobState, failed_jobs, latest_jobs
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_view import PageView
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.events.queries import latest_data_of
from tradecounter.jobs.retry_job import retry_job
from tradecounter.parts.back_office import OfficeParts

_NAMES = {
    "find_forgotten_password": "Look up a forgotten password",
    "invoice_dispatch": "Invoice a shipment",
    "mail_user_password": "E-mail: link to a new password",
    "mail_user_invited": "E-mail: invitation",
    "mail_user_browser": "E-mail: sign-in in a new browser",
    "mail_webhook_stopped": "E-mail: webhook stopped",
}
_REASONS = {
    "Rejected": "The mail server rejects the recipient's address or this e-mail. The worker's log has its words.",
    "NothingToSend": "What it is about does not exist any more, or no recipient has a valid address.",
}


def name_of(job: str) -> str:
    """Return what a job does: `mail_order_confirmed` is E-mail: order confirmed."""
    if job in _NAMES:
        return _NAMES[job]
    words = job.replace("_", " ")
    return f"E-mail: {words.removeprefix('mail ')}" if words.startswith("mail ") else words.capitalize()


def reason_of(failure: Mapping[str, str]) -> str:
    """Return why a job failed, by the data of its event."""
    error = failure["error"]
    return failure.get("message") or _REASONS.get(error, f"Unexpected: {error}. The worker's log has the details.")


RETRIERS = ("support", "administrator")

_COLUMNS = (
    Column("Job"), Column("About"), Column("State"), Column("Why"), Column("Attempts", numeric=True), Column("Since"),
    Column(""),
)  # fmt: skip
_CELLS: Cells = {
    **{name: f"job.{name}" for name in ("id", "name", "state")},
    "why": "why",
    **{name: f"job.{name}" for name in ("attempts", "at")},
}
_NOUNS = {
    "order_id": "order",
    "number": "invoice",
    "payment_id": "payment",
    "customer_id": "customer",
    "webhook_id": "webhook",
}
_NOT_FAILED = "all"


class JobTable(TableParameters, frozen=True, kw_only=True):
    """The filter of jobs; without it, those that failed."""

    state: JobState | None = None
    show: str | None = None


class ShownJob(Struct, frozen=True):
    """A job in words. `about` are texts with the path of their page, if there is one."""

    job: Job
    name: str
    about: list[tuple[str, str]]
    why: str


class JobPages(Struct, frozen=True):
    """Background jobs."""

    desk: PageDesk
    parts: OfficeParts

    async def _failed(self, tx: Transaction) -> dict[str, Any]:
        failed = await failed_jobs(tx)
        return {"states": get_args(JobState), "failed": [(name_of(each.task_name), each.count) for each in failed]}

    @table_page(
        "/job",
        "Jobs and mail",
        columns=_COLUMNS,
        order=TableOrder({"id": int}, "-id", lambda row, _: (row.job.id, row.job.id)),
        template="jobs/list.html",
        file="jobs",
        cells=_CELLS,
        values=_failed,
        scope="events:read",
    )
    async def list_jobs(self, tx: Transaction, call: Call, wanted: JobTable, at: RowsToRead) -> list[ShownJob]:
        state: JobState | None = None if wanted.show == _NOT_FAILED else wanted.state or "failed"
        jobs = await latest_jobs(tx, state, None if at["after"] is None else at["after"][1], wanted.most)
        reasons = await latest_data_of(tx, "job.failed", [f"job/{job.id}" for job in jobs])
        return [_shown_job(job, reasons.get(f"job/{job.id}"), self.desk.view(call)) for job in jobs]

    async def _ask_to_retry(self, call: Call) -> Question:
        return Question(
            title=f"Run job {call.path_id('id', 'job')} again",
            text="An e-mail that it sends is sent once more.",
            button="Run it again",
            back="/job",
            back_name="Jobs and mail",
        )

    @step(
        "/job/{id}/retry",
        "Run a job again",
        asks=_ask_to_retry,
        to="/job",
        done=lambda job: f"{name_of(job.name)} runs again. If it fails once more, it comes back to this list.",
        scope="events:write",
        roles=RETRIERS,
    )
    async def retry(self, tx: Transaction, call: Call, now: datetime) -> Job:
        return await retry_job(tx, call.path_id("id", "job"), now)


def _shown_job(job: Job, failure: dict[str, Any] | None, view: PageView) -> ShownJob:
    about = []
    for name, value in job.arguments.items():
        noun = _NOUNS.get(name)
        if noun is not None:
            noun = "credit-note" if noun == "invoice" and job.name == "mail_credit_note" else noun
            about.append((f"{noun.replace('-', ' ')} {value}", view.path_of(f"{noun}/{value}")))
    why = reason_of(failure) if failure is not None and job.state == "failed" else ""
    return ShownJob(job, name_of(job.name), about, why)
