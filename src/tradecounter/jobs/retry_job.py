"""Queues a failed job again, for the operator."""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.db.jobs import Job, requeue_failed_job
from tradecounter.db.transaction import Transaction


async def retry_job(tx: Transaction, job_id: int, now: datetime) -> Job:
    """Queue a failed job again. Raises DomainError: not found, conflict (the job has not failed)."""
    job = await requeue_failed_job(tx, job_id)
    audit(tx, "job.retry", f"job/{job_id}", now)
    return job
