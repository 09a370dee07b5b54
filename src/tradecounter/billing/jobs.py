"""Jobs: invoicing dispatched units by itself, with the setting INVOICE_EACH_DISPATCH, and reminders."""

from datetime import datetime

import procrastinate

from tradecounter.billing.issue_invoice import issue_invoice
from tradecounter.billing.queries.invoices import last_dispatch
from tradecounter.billing.queries.statement import mark_reminded
from tradecounter.db.jobs import JobName, queue
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.clock import Clock
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.queries.orders import order_by_id

_NAME: JobName = "invoice_dispatch"
_RETRY = procrastinate.RetryStrategy(max_attempts=12, exponential_wait=2)  # for about two hours


def add_billing_jobs(app: procrastinate.App, database: Database, clock: Clock, letterhead: Letterhead) -> None:
    """Add the job to the queue. It does nothing if all is invoiced, or if what was dispatched was taken back."""

    @app.task(name=_NAME, retry=_RETRY, pass_context=False)
    async def invoice_dispatch(order_id: int) -> None:
        async with transaction(database) as tx:
            order = await order_by_id(tx, order_id)
            if order is not None and await last_dispatch(tx, order.id) is not None:
                await issue_invoice(tx, order.name, letterhead, clock.now(), part=True)


_BATCH = 200


async def remind_of_invoices(tx: Transaction, now: datetime, stages: list[int]) -> int:
    """Queue the e-mails of invoices that have reached a stage, in days past the due date; return their number."""
    if not stages:
        return 0
    overdue = await mark_reminded(tx, stages, now, _BATCH)
    for invoice in overdue:
        await queue(tx, "mail_invoice_overdue", order_id=invoice.order_id, number=invoice.invoice, stage=invoice.stage)
    return len(overdue)
