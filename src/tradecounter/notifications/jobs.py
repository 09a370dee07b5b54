"""The jobs that send e-mail; `db/jobs.py` queues them by name."""

import asyncio
import math
from collections.abc import Mapping

import procrastinate
import psycopg
from procrastinate.jobs import Job

from tradecounter.db.jobs import JobName, queue, remove_queued
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.notifications import (
    access_mails,
    alert_mails,
    approval_mails,
    billing_mails,
    order_mails,
    quote_mails,
    request_mails,
)
from tradecounter.notifications.context import MailBuilder, MailContext, MailSettings, NothingToSend, NotYetError
from tradecounter.notifications.queries import note_support_told
from tradecounter.notifications.rules import next_attempt
from tradecounter.notifications.transport import Delayed, Rejected, Transport

MAILS: Mapping[JobName, MailBuilder] = {
    "mail_quote_requested": quote_mails.quote_requested,
    "mail_quote_received": quote_mails.quote_received,
    "mail_quote_priced": quote_mails.quote_priced,
    "mail_quote_expiring": quote_mails.quote_expiring,
    "mail_approval_requested": approval_mails.approval_requested,
    "mail_approval_decided": approval_mails.approval_decided,
    "mail_order_confirmed": order_mails.order_confirmed,
    "mail_order_expected_date": order_mails.order_expected_date,
    "mail_order_cancelled": order_mails.order_cancelled,
    "mail_order_changed": order_mails.order_changed,
    "mail_order_dispatched": order_mails.order_dispatched,
    "mail_shipment_taken_back": order_mails.shipment_taken_back,
    "mail_order_invoiced": billing_mails.order_invoiced,
    "mail_invoice_copy": billing_mails.invoice_copy,
    "mail_payment_received": billing_mails.payment_received,
    "mail_user_invited": access_mails.user_invited,
    "mail_user_password": access_mails.user_password,
    "mail_user_browser": access_mails.new_browser,
    "mail_owner_added": access_mails.owner_added,
    "mail_key_added": access_mails.key_added,
    "mail_webhook_added": access_mails.webhook_added,
    "mail_application_allowed": access_mails.application_allowed,
    "mail_agent_allowed": access_mails.agent_allowed,
    "mail_webhook_stopped": access_mails.webhook_stopped,
    "mail_back_in_stock": alert_mails.back_in_stock,
    "mail_dispatch_alert": order_mails.dispatch_alert,
    "mail_invoices_due": alert_mails.invoices_due,
    "mail_prices_changed": alert_mails.prices_changed,
    "mail_request_opened": request_mails.request_opened,
    "mail_request_closed": request_mails.request_closed,
    "mail_credit_note": billing_mails.credit_note,
    "mail_invoice_overdue": billing_mails.invoice_overdue,
    "mail_debtor_reminded": billing_mails.debtor_reminded,
    "mail_statement": billing_mails.statement,
}


def most_retries(error: BaseException) -> float:
    """Return how often an e-mail that could not be sent is tried again."""
    match error:
        # The mail server or the database is away or busy. A worker that stops cancels its jobs.
        case Delayed() | psycopg.OperationalError() | asyncio.CancelledError():
            return math.inf
        case Rejected():
            return 4
        case NothingToSend():
            return 0
        case _:  # probably a bug
            return 10


class _Retries(procrastinate.BaseRetryStrategy):
    def get_retry_decision(self, *, exception: BaseException, job: Job) -> procrastinate.RetryDecision | None:
        wait = next_attempt(job.attempts, most_retries(exception))
        return None if wait is None else procrastinate.RetryDecision(retry_in={"seconds": int(wait.total_seconds())})


def add_mail_jobs(
    app: procrastinate.App, database: Database, clock: Clock, settings: MailSettings, transport: Transport
) -> None:
    """Add the jobs that send e-mail to the queue. A job that runs twice sends the same e-mail twice."""

    def add(name: JobName, build: MailBuilder) -> None:
        @app.task(name=name, retry=_Retries(), pass_context=True)
        async def send(context: procrastinate.JobContext, /, **ids: int) -> None:
            try:
                async with reading(database) as tx:
                    mail = await build(MailContext(tx, settings, clock.now()), **ids)
            except NotYetError as early:
                async with transaction(database) as tx:
                    queue(tx, name, context.job.lock, math.ceil(early.wait.total_seconds()), **ids)
                return
            if mail is None:
                return
            await asyncio.to_thread(mail.attach_drawing)
            await transport.send(mail)  # with no connection while it contacts the mail server
            if mail.quotes:  # after sending: a second e-mail is better than none
                async with transaction(database) as tx:
                    await note_support_told(tx, mail.quotes, clock.now())
                    await remove_queued(tx, mail.quotes, name)

    for name, build in MAILS.items():
        add(name, build)
