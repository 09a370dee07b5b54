"""The SQL of the demo: products for its lists; of its history, what is done, and its jobs."""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.db.jobs import JobName, queue
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event

_DONE = Statement(
    "select at from audit_entry where at = any(:moments::timestamptz[])"
    " union select occurred_at from event where occurred_at = any(:moments::timestamptz[])"
    " union select occurred_at from unnumbered_event where occurred_at = any(:moments::timestamptz[])"
)


async def moments_done(tx: Transaction, moments: Sequence[datetime]) -> set[datetime]:
    """Return those of the moments at which one of the logs has an entry."""
    return {at for (at,) in await tx.fetch_all(_DONE, moments=list(moments))}


# Jobs of this transaction are those whose rows it wrote; it must have no savepoints, which have numbers of their own.
_DROP_NEW_JOBS = Statement(
    "select procrastinate_finish_job_v1(id, 'succeeded', true) from procrastinate_jobs"
    " where status = 'todo' and xmin = pg_current_xact_id()::xid"
)


async def drop_new_jobs(tx: Transaction) -> None:
    """Delete the jobs that this transaction has queued: nobody wants e-mails of the past."""
    await tx.fetch_all(_DROP_NEW_JOBS)


# A real failure needs an unreachable mail server and days of retries.
_FAIL = Statement("""
    with failed as (
        update procrastinate_jobs set status = 'failed', attempts = 12
        where status = 'todo' and task_name = :job and xmin = pg_current_xact_id()::xid
          and (args->>'order_id')::bigint = :order_id
        returning id
    ), dated as (
        update procrastinate_events set at = :now from failed where job_id = failed.id
    )
    select id from failed
""")


async def queue_failed_job(tx: Transaction, job: JobName, order_id: int, now: datetime) -> None:
    """Queue the job of an order, mark it as failed for good, and record the event."""
    queue(tx, job, order_id=order_id)
    job_id: int = await tx.fetch_value(_FAIL, job=job, order_id=order_id, now=now)
    data = {"id": job_id, "name": job, "arguments": {"order_id": order_id}, "error": "Rejected"}
    record_event(tx, "job.failed", f"job/{job_id}", now, None, data)


_SOME = Statement(
    "select p.id from product p join price c on c.product_id = p.id and c.price_list = 'default'"
    " where p.active order by p.sku_key offset :first limit :count"
)


async def some_products(tx: Transaction, first: int, count: int) -> list[int]:
    """Return the ids of some products with a price, in the order of their SKUs, from a place on."""
    return [product_id for (product_id,) in await tx.fetch_all(_SOME, first=first, count=count)]
