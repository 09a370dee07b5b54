"""Queuing a job in the transaction whose consequence it is: both are there, or neither.

What the jobs do stands above, in the slices that register tasks by these names (`worker.py` collects them).
"""

from collections.abc import Sequence
from typing import Literal

import procrastinate

from tradecounter.db.rows import fetch_tuples, fetch_value
from tradecounter.db.transaction import Transaction

JobName = Literal[
    "mail_quote_requested",
    "mail_quote_priced",
    "mail_order_confirmed",
    "mail_order_dispatched",
    "mail_order_invoiced",
    "mail_invoice_copy",
]

# Never opened: a job is queued on the transaction's own connection.
_queue = procrastinate.App(connector=procrastinate.PsycopgConnector())


async def queue(tx: Transaction, job: JobName, group: str | None = None, /, **arguments: int) -> None:
    """Have a job run once this transaction commits; arguments are ids.

    Jobs of a group run one after another, in the order in which they were queued, also while the first one waits for
    its next attempt.
    """
    connection = await tx.connection()
    await _queue.configure_task(job, lock=group, connection=connection).defer_async(**arguments)


async def remove_queued(tx: Transaction, job: JobName, order_ids: Sequence[int]) -> None:
    """Remove the jobs about these orders that have not started."""
    await fetch_tuples(
        tx,
        "select procrastinate_cancel_job_v1(id, false, true) from procrastinate_jobs"
        " where status = 'todo' and task_name = %s and (args->>'order_id')::bigint = any(%s)",
        [job, list(order_ids)],
    )


async def count_due(tx: Transaction) -> int:
    """Return how many jobs wait to be started now."""
    count: int = await fetch_value(
        tx,
        "select count(*) from procrastinate_jobs where status = 'todo'"
        " and (scheduled_at is null or scheduled_at <= now())",
    )
    return count
