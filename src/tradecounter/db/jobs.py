"""Queues jobs in the transaction that causes them, so that both are committed or neither is.

The slices register tasks under these names (`sites/worker.py` collects them).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

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
        row('default', :job::text, 0, :lock::text, null, :arguments::jsonb, null)::procrastinate_job_to_defer_v1
    ])
""")


async def queue(tx: Transaction, job: JobName, group: str | None = None, /, **arguments: int) -> None:
    """Queue a job that runs after this transaction commits, without an extra round trip; `arguments` are ids.

    Jobs of a group run one at a time, in queue order, also while the first waits for a retry.
    """
    tx.queue(_DEFER, job=job, lock=group, arguments=json_of(arguments))


def change_number(changed_at: datetime) -> int:
    """Return the `changed` argument of the e-mail about a change: its Unix time in seconds."""
    return int(changed_at.timestamp())


_REMOVE_QUEUED = Statement(
    "select procrastinate_cancel_job_v1(id, false, true) from procrastinate_jobs"
    " where status = 'todo' and task_name = coalesce(:job, task_name) and (args->>'order_id')::bigint = any(:order_ids)"
)


async def remove_queued(tx: Transaction, order_ids: Sequence[int], job: JobName | None = None) -> None:
    """Remove these orders' jobs that have not started; with `job`, only jobs with this name."""
    await tx.fetch_all(_REMOVE_QUEUED, job=job, order_ids=list(order_ids))


_COUNT_DUE = Statement(
    "select count(*) from procrastinate_jobs where status = 'todo' and (scheduled_at is null or scheduled_at <= now())"
)


async def count_due(tx: Transaction) -> int:
    """Return the number of due jobs."""
    count: int = await tx.fetch_value(_COUNT_DUE)
    return count
