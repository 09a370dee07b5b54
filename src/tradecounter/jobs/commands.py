"""`tradecounter job`: background jobs."""

from typing import Annotated

import typer

from tradecounter.db.jobs import Job, jobs_after
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import IdOf, Limit
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, show
from tradecounter.edge.command_line.session import run_change
from tradecounter.jobs.retry_job import retry_job

app = typer.Typer(no_args_is_help=True, help="Background jobs, such as e-mails.")

_COLUMNS = ("id", "name", "state", Prose("arguments"), "attempts", "scheduled_at", "at")


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(
    tx: Transaction,
    failed: Annotated[bool, typer.Option("--failed", help="Only jobs that have failed permanently.")] = False,
    limit: Limit = 100,
) -> list[Job]:
    """List jobs, oldest first; jobs that succeed are deleted."""
    return await jobs_after(tx, "failed" if failed else None, 0, limit)


@app.command("retry")
def retry(job_id: Annotated[int, IdOf("ID", "The job's id, from `job list`.")], as_json: AsJson = False) -> None:
    """Queue a failed job again."""
    job = run_change(lambda tx, now: retry_job(tx, job_id, now))
    show(job, f"job {job_id} is queued again", as_json=as_json)
