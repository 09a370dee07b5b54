"""The jobs that send mail, by the names that `db/jobs.py` queues them under."""

import asyncio
import math
from collections.abc import Mapping

import procrastinate
import psycopg
import structlog
from procrastinate.jobs import Job

from tradecounter.db.jobs import JobName, remove_queued
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.notifications import billing_mails, order_mails, quote_mails
from tradecounter.notifications.letters import Letter, NothingToTell, NotYetError, Office, Writing
from tradecounter.notifications.post import Delayed, Post, Refused
from tradecounter.notifications.queries import note_support_told
from tradecounter.notifications.rules import Trouble, next_attempt

log = structlog.get_logger()

LETTERS: Mapping[JobName, Letter] = {
    "mail_quote_requested": quote_mails.quote_requested,
    "mail_quote_received": quote_mails.quote_received,
    "mail_quote_priced": quote_mails.quote_priced,
    "mail_quote_expiring": quote_mails.quote_expiring,
    "mail_order_confirmed": order_mails.order_confirmed,
    "mail_order_expected_date": order_mails.order_expected_date,
    "mail_order_cancelled": order_mails.order_cancelled,
    "mail_order_dispatched": order_mails.order_dispatched,
    "mail_order_invoiced": billing_mails.order_invoiced,
    "mail_invoice_copy": billing_mails.invoice_copy,
    "mail_payment_received": billing_mails.payment_received,
}


def trouble_of(error: BaseException) -> Trouble:
    """Return what kind of trouble kept a mail from being sent."""
    match error:
        # Cancelled: the worker stops.
        case Delayed() | psycopg.OperationalError() | asyncio.CancelledError():
            return Trouble.PASSING
        case Refused():
            return Trouble.REFUSED
        case NothingToTell():
            return Trouble.HOPELESS
        case _:
            return Trouble.UNEXPECTED


class _Retries(procrastinate.BaseRetryStrategy):
    def get_retry_decision(self, *, exception: BaseException, job: Job) -> procrastinate.RetryDecision | None:
        if isinstance(exception, NotYetError):
            return procrastinate.RetryDecision(retry_in={"seconds": math.ceil(exception.wait.total_seconds())})
        wait = next_attempt(trouble_of(exception), job.attempts)
        if wait is None:
            return None
        log.warning(
            "mail not sent, trying again later",
            job=job.task_name,
            arguments=job.task_kwargs,
            attempts=job.attempts + 1,
            wait_seconds=int(wait.total_seconds()),
            error=f"{type(exception).__name__}: {exception}",
        )
        return procrastinate.RetryDecision(retry_in={"seconds": int(wait.total_seconds())})


def add_mail_jobs(app: procrastinate.App, database: Database, clock: Clock, office: Office, post: Post) -> None:
    """Give the queue's application the jobs that send mail. Run twice, a job sends the same mail again."""
    for name, letter in LETTERS.items():
        _add(app, name, letter, database, clock, office, post)


def _add(
    app: procrastinate.App, name: JobName, letter: Letter, database: Database, clock: Clock, office: Office, post: Post
) -> None:
    @app.task(name=name, retry=_Retries(), pass_context=False)
    async def send(**ids: int) -> None:
        async with reading(database) as tx:
            mail = await letter(Writing(tx, office, clock.now()), **ids)
        if mail is not None:  # no connection is held while the mail server takes its time
            await post.send(mail)
            if mail.quotes:  # only now: a mail that is sent twice is better than a quote that nobody hears of
                async with transaction(database) as tx:
                    await note_support_told(tx, mail.quotes, clock.now())
                    await remove_queued(tx, mail.quotes, name)
