"""Reminds customers of overdue invoices, at the ages that the setting REMINDER_DAYS names."""

from datetime import datetime

from tradecounter.billing.queries.statement import mark_reminded
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction

_BATCH = 200


async def remind_of_invoices(tx: Transaction, now: datetime, stages: list[int]) -> int:
    """Queue the e-mails of invoices that have reached a stage, in days past the due date; return their number."""
    if not stages:
        return 0
    overdue = await mark_reminded(tx, stages, now, _BATCH)
    for invoice in overdue:
        await queue(tx, "mail_invoice_overdue", order_id=invoice.order_id, number=invoice.invoice, stage=invoice.stage)
    return len(overdue)
