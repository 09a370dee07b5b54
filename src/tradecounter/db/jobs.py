"""Queuing a job in the transaction whose consequence it is: both are there, or neither.

What the jobs do stands above, in the slices that register tasks by these names (`worker.py` collects them).
"""

from typing import Literal

import procrastinate

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


async def queue(tx: Transaction, job: JobName, **arguments: int) -> None:
    """Have a job run once this transaction commits; arguments are ids."""
    await _queue.configure_task(job, connection=await tx.connection()).defer_async(**arguments)
