"""The background worker: sends e-mails from a queue, runs scheduled jobs, numbers events, delivers to webhooks."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import procrastinate
import psycopg
import structlog
from procrastinate.exceptions import ConnectorException

from tradecounter.access.jobs import add_access_jobs, clean_up_access
from tradecounter.agents.clean_up import clean_up_agents
from tradecounter.alerts.follow_prices import tell_of_prices
from tradecounter.alerts.tell_of_due_invoices import tell_of_due_invoices
from tradecounter.alerts.tell_of_stock import tell_of_stock
from tradecounter.billing.jobs import add_billing_jobs, remind_of_invoices
from tradecounter.consent.clean_up import clean_up_consent
from tradecounter.customers.queries.addresses import delete_old_addresses
from tradecounter.db.idempotency import forget_keys
from tradecounter.db.jobs import count_due
from tradecounter.db.pool import DATABASE_AWAY, DATABASE_RESPONDED, NOTICE_A_DEAD_PEER, WAIT_SECONDS, Database
from tradecounter.db.stalled_jobs import requeue_stalled_jobs
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.events.sequencer import number_all, numbering
from tradecounter.identity.clean_up import clean_up_identity
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.registered_keys import RegisteredKeys
from tradecounter.imports.roll_back import forget_changes
from tradecounter.jobs.watch import Backlog
from tradecounter.kit.clock import Clock
from tradecounter.kit.setting_rules import comma_separated
from tradecounter.kit.spans import SPANS, WorkSpan
from tradecounter.kit.tasks import Seldom, drop_tasks
from tradecounter.notifications.context import MailSettings
from tradecounter.notifications.jobs import add_mail_jobs
from tradecounter.notifications.transport import transport_for
from tradecounter.orders.announce_changes import announce_changes
from tradecounter.orders.back_orders.expected_dates import update_expected_dates
from tradecounter.orders.expire_orders import expire_orders
from tradecounter.orders.queries.changes import delete_expired_orders
from tradecounter.quotes.remind_of_quotes import remind_of_quotes
from tradecounter.request_log.forget_old_requests import forget_old_requests
from tradecounter.sandbox.live import Life, live_on
from tradecounter.sandbox.refresh import refresh_sandbox
from tradecounter.sandbox.steps import reseller_from
from tradecounter.settings import Settings
from tradecounter.storefront.changes.forget import forget_catalogue_changes
from tradecounter.webhooks.deliver import Deliverer, deliver_all, delivering
from tradecounter.webhooks.manage import WebhookPolicy
from tradecounter.webhooks.queries.deliveries import forget_deliveries
from tradecounter.webhooks.rules import KEPT_FOR
from tradecounter.webhooks.send import HttpSender

log = structlog.get_logger()

# Cron expressions are in UTC. A run that a stopped worker missed is skipped.
EVERY_MINUTE = "* * * * *"
EVERY_FIVE_SECONDS = "* * * * * */5"
EVERY_NIGHT = "17 2 * * *"
EVERY_FIVE_MINUTES = "*/5 * * * *"

BATCH = 500  # orders, addresses or keys per transaction of a retention job
MOST_BATCHES = 20  # per minute and retention job: about a second of work, so that a stop is not delayed

JOBS_AT_ONCE = 5  # at the same time; they mostly wait for the mail server
POLL_SECONDS = 0.25  # seconds between polls for new jobs
HEARTBEAT_SECONDS = 5.0
SILENT_SECONDS = 20.0  # seconds without a heartbeat after which a worker counts as dead
REQUEUE_SECONDS = 5.0  # seconds between checks for jobs of dead workers
STOP_SECONDS = 10.0  # seconds for running jobs to finish before they are requeued
RECONNECT_SECONDS = 2.0  # seconds between attempts to reach the database


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """A scheduled job; `work` returns the number of handled items.

    `work` runs up to `batches` times, each time in a new transaction, until it returns 0.
    """

    name: str
    cron: str
    work: Callable[[Transaction, datetime], Awaitable[int]]
    done: str = ""  # log event; not logged if no item was handled
    batches: int = 1


def periodic_jobs(settings: Settings) -> tuple[PeriodicJob, ...]:
    """Return the scheduled jobs."""
    orders, addresses = settings.keep_expired_orders, settings.keep_deleted_addresses
    return (
        PeriodicJob("expire_orders", EVERY_MINUTE, expire_orders, "pending orders expired", batches=MOST_BATCHES),
        PeriodicJob("remind_of_invoices", EVERY_FIVE_MINUTES, _reminding(settings), "customers reminded of invoices"),
        PeriodicJob("remind_of_quotes", EVERY_FIVE_MINUTES, remind_of_quotes, "customers reminded of quotes"),
        PeriodicJob(
            "update_expected_dates", EVERY_MINUTE, update_expected_dates, "expected dates changed", batches=MOST_BATCHES
        ),
        PeriodicJob("announce_changes", EVERY_MINUTE, announce_changes),
        PeriodicJob("tell_of_stock", EVERY_MINUTE, tell_of_stock, "users told of stock"),
        PeriodicJob("tell_of_due_invoices", EVERY_FIVE_MINUTES, tell_of_due_invoices, "users told of due invoices"),
        PeriodicJob(
            "tell_of_prices", EVERY_FIVE_MINUTES, tell_of_prices, "lists looked at for prices", batches=MOST_BATCHES
        ),
        PeriodicJob("clean_up_identity", EVERY_FIVE_MINUTES, clean_up_identity, "old tokens and counts deleted"),
        PeriodicJob(
            "clean_up_access", EVERY_FIVE_MINUTES, clean_up_access, "old links, sessions and wrong passwords deleted"
        ),
        PeriodicJob("clean_up_consent", EVERY_FIVE_MINUTES, clean_up_consent, "old grants and keys deleted"),
        PeriodicJob("clean_up_agents", EVERY_FIVE_MINUTES, clean_up_agents, "old agents and their tokens deleted"),
        PeriodicJob("forget_import_changes", EVERY_FIVE_MINUTES, forget_changes, "changes of old imports deleted"),
        PeriodicJob(
            "forget_catalogue_changes",
            EVERY_FIVE_MINUTES,
            _forgetting(settings),
            "old changes of the catalogue deleted",
        ),
        _retention("delete_expired_orders", orders, delete_expired_orders, "expired orders deleted permanently"),
        _retention("delete_old_addresses", addresses, delete_old_addresses, "deleted addresses deleted permanently"),
        _retention("forget_deliveries", KEPT_FOR, forget_deliveries, "old webhook deliveries deleted"),
        PeriodicJob(
            "forget_requests",
            EVERY_MINUTE,
            forget_old_requests,
            "entries of the request log deleted",
            batches=MOST_BATCHES,
        ),
        _retention("forget_keys", settings.keep_idempotent_responses, forget_keys, "idempotency keys deleted"),
    )


def sandbox_jobs(settings: Settings, database: Database) -> tuple[PeriodicJob, ...]:
    """Return the scheduled jobs of a sandbox; none elsewhere."""
    if not settings.sandbox:
        return ()
    life = Life(settings.sandbox_pace, reseller_from(settings))

    async def live(tx: Transaction, now: datetime) -> int:
        return await live_on(tx, database, life, now)

    async def refresh(tx: Transaction, now: datetime) -> int:
        source = settings.sandbox_source
        return 0 if source is None else (await refresh_sandbox(tx, source, now)).rows

    return (
        PeriodicJob("sandbox_live", EVERY_FIVE_SECONDS, live),
        PeriodicJob("sandbox_refresh", EVERY_NIGHT, refresh, "rows of the live database copied"),
    )


def _reminding(settings: Settings) -> Callable[[Transaction, datetime], Awaitable[int]]:
    stages = [int(day) for day in comma_separated(settings.reminder_days)]

    async def work(tx: Transaction, now: datetime) -> int:
        return await remind_of_invoices(tx, now, stages)

    return work


def _forgetting(settings: Settings) -> Callable[[Transaction, datetime], Awaitable[int]]:
    async def work(tx: Transaction, now: datetime) -> int:
        return await forget_catalogue_changes(tx, now, settings.keep_changes)

    return work


def _retention(
    name: str, keep: timedelta | None, delete: Callable[[Transaction, datetime, int], Awaitable[int]], done: str
) -> PeriodicJob:
    """Return a job that deletes data older than `keep`, or deletes nothing if `keep` is None."""

    async def work(tx: Transaction, now: datetime) -> int:
        return 0 if keep is None else await delete(tx, now - keep, BATCH)

    return PeriodicJob(name, EVERY_MINUTE, work, done, batches=MOST_BATCHES)


class _Connector(procrastinate.PsycopgConnector):
    """The queue's connections. Sets `lost` if the database fails while a job's end is being recorded.

    Such a job counts as running until this worker ends, so the worker must restart.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.lost = asyncio.Event()

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        try:
            await super().execute_query_async(query, **arguments)
        except ConnectorException as error:
            if isinstance(error.__cause__, psycopg.OperationalError):
                self.lost.set()
            raise


async def run_worker(
    settings: Settings, url: str, clock: Clock, stop: asyncio.Event, backlog: Backlog | None = None
) -> None:
    """Run jobs until `stop` is set; if the database is lost, retry until it can be reached.

    `backlog` is kept current meanwhile. Raises SettingsError if the mail settings are invalid.
    """
    worker = _Worker(settings, url, clock, backlog)
    stopping = asyncio.create_task(stop.wait())
    outages = Seldom()
    while not stop.is_set():
        try:
            await worker.run(stopping)
        except (ConnectorException, psycopg.OperationalError) as error:
            if outages.is_due():
                log.warning("the database cannot be reached, the worker tries again", reason=_cause(error))
        await asyncio.wait({stopping}, timeout=RECONNECT_SECONDS)


def _cause(error: Exception) -> str:
    return str(error.__cause__ or error).strip()


async def drain(settings: Settings, url: str, clock: Clock) -> None:
    """Run all due jobs; return when no further job can start. Scheduled jobs are not queued."""
    worker = _Worker(settings, url, clock)
    async with Database(url, connections=1) as database:
        before, due = None, await _count_due(database)
        while before is None or 0 < due < before:  # after a job, the next job of its group may start
            await worker.run(stopping=None)
            before, due = due, await _count_due(database)
        await number_all(database)
        await deliver_all(_deliverer(settings, database, clock))


def _deliverer(settings: Settings, database: Database, clock: Clock) -> Deliverer:
    policy = WebhookPolicy.from_settings(settings)
    return Deliverer(database, clock, policy.vault, HttpSender(policy.networks, policy.allow_http))


async def _count_due(database: Database) -> int:
    async with reading(database) as tx:
        return await count_due(tx)


class _Worker:
    def __init__(self, settings: Settings, url: str, clock: Clock, backlog: Backlog | None = None) -> None:
        self._backlog = backlog
        self._mail_settings, self._transport = MailSettings.from_settings(settings), transport_for(settings)
        self._periodic_jobs = periodic_jobs(settings)
        self._secrets = RegisteredKeys(lambda: secret_keys(settings))
        self._settings, self._url, self._clock = settings, url, clock

    async def run(self, stopping: asyncio.Task[Any] | None) -> None:
        """Run jobs until `stopping` is done or the database is lost; with None, until no job is due."""
        connector = _Connector(
            conninfo=self._url,
            min_size=1,
            max_size=4,
            timeout=WAIT_SECONDS,
            reconnect_timeout=WAIT_SECONDS,
            kwargs={"connect_timeout": 5, **NOTICE_A_DEAD_PEER},
        )
        async with Database(self._url, connections=JOBS_AT_ONCE + 4) as database:
            await database.pool.wait(WAIT_SECONDS)  # the queue library would wait longer than a stop may take
            app = self._app(connector, database, scheduling=stopping is not None)
            deliverer = _deliverer(self._settings, database, self._clock)
            watching = nullcontext() if self._backlog is None else self._backlog.watching(database)
            async with app.open_async(), numbering(database), delivering(deliverer), watching:
                await _requeue(app, database)
                working = asyncio.create_task(
                    app.run_worker_async(
                        concurrency=JOBS_AT_ONCE,
                        task_middleware=[_recorded],
                        wait=stopping is not None,
                        listen_notify=False,  # jobs are queued without notifications (docs/adr/0004)
                        fetch_job_polling_interval=POLL_SECONDS,
                        delete_jobs="successful",
                        install_signal_handlers=False,
                        shutdown_graceful_timeout=STOP_SECONDS,
                        update_heartbeat_interval=HEARTBEAT_SECONDS,
                        stalled_worker_timeout=SILENT_SECONDS,
                    )
                )
                requeuing = asyncio.create_task(_look_periodically(app, database, self._secrets))
                losing = asyncio.create_task(connector.lost.wait())
                ends = {working, losing} if stopping is None else {working, losing, stopping}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                await drop_tasks((requeuing, losing), "requeuing of jobs")
                if not working.done():
                    working.cancel()  # the queue library's worker finishes its current jobs
                with suppress(asyncio.CancelledError):
                    await working

    def _app(self, connector: _Connector, database: Database, *, scheduling: bool) -> procrastinate.App:
        app = procrastinate.App(connector=connector)
        add_mail_jobs(app, database, self._clock, self._mail_settings, self._transport)
        add_access_jobs(app, database, self._clock, lambda: self._mail_settings.secrets()[0])
        add_billing_jobs(app, database, self._clock, self._mail_settings.letterhead)
        for job in (*self._periodic_jobs, *sandbox_jobs(self._settings, database)):
            task = _scheduled_task(app, job, database, self._clock)
            if scheduling:
                app.periodic(cron=job.cron)(task)
        return app


async def _recorded(call_next: Callable[[], Awaitable[Any]], context: procrastinate.JobContext, _worker: Any) -> Any:
    """Run a job in a span; its arguments are left out, since they may be secret."""
    job = context.job
    with SPANS.work(WorkSpan("job", job.task_name, {"job": job.id or 0, "attempt": job.attempts + 1})):
        return await call_next()


def _scheduled_task(
    app: procrastinate.App, job: PeriodicJob, database: Database, clock: Clock
) -> procrastinate.tasks.Task[..., Any, Any]:
    @app.task(name=job.name, queueing_lock=job.name, pass_context=False)
    async def run(timestamp: int) -> None:
        count = 0
        for _ in range(job.batches):
            try:
                async with transaction(database) as tx:
                    done = await job.work(tx, clock.now())
            except DATABASE_RESPONDED:
                raise
            except DATABASE_AWAY as error:  # given up as failed, it would alert people after each fail-over
                log.warning("a scheduled job lost the database, its next run goes on", job=job.name, reason=str(error))
                break
            if not done:
                break
            count += done
        if count and job.done:
            log.info(job.done, count=count, scheduled=timestamp)

    return run


async def _requeue(app: procrastinate.App, database: Database) -> None:
    async with transaction(database) as tx:
        await requeue_stalled_jobs(tx, app.job_manager, SILENT_SECONDS)


async def _look_periodically(app: procrastinate.App, database: Database, secrets: RegisteredKeys) -> None:
    """Requeue jobs of dead workers, and log when the secret key is not the database's any more."""
    while True:
        await asyncio.sleep(REQUEUE_SECONDS)
        try:
            await _requeue(app, database)
            async with reading(database) as tx:
                await secrets.look(tx)
        except (ConnectorException, psycopg.OperationalError) as error:
            log.warning("jobs of dead workers could not be requeued", reason=_cause(error))
