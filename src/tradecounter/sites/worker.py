"""The background worker: sends e-mails from a queue, runs scheduled jobs, numbers events, delivers to webhooks."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import procrastinate
import psycopg
import structlog
from procrastinate.exceptions import ConnectorException
from procrastinate.periodic import PeriodicDeferrer, PeriodicRegistry, TaskAtTime

from tradecounter.access.jobs import add_access_jobs
from tradecounter.billing.jobs import add_billing_jobs
from tradecounter.db.advisory_locks import TRY_TO_REQUEUE_STALLED_JOBS
from tradecounter.db.jobs import SILENT_SECONDS, waiting_jobs
from tradecounter.db.pool import (
    DATABASE_AWAY,
    DATABASE_RESPONDED,
    NOTICE_A_DEAD_PEER,
    WAIT_SECONDS,
    Database,
    FailureLog,
    repeated,
)
from tradecounter.db.transaction import reading, transaction
from tradecounter.edge.outbound_http import HttpSender
from tradecounter.events.sequencer import number_all, numbering
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.vault import RegisteredKeys
from tradecounter.jobs.note_failures import noting_failures
from tradecounter.jobs.watch import Backlog
from tradecounter.kit.clock import Clock
from tradecounter.kit.tasks import drop_tasks
from tradecounter.kit.telemetry import SPANS, WorkSpan
from tradecounter.notifications.context import MailSettings
from tradecounter.notifications.jobs import add_mail_jobs
from tradecounter.notifications.transport import transport_for
from tradecounter.settings import Settings
from tradecounter.sites.schedule import PeriodicJob, periodic_jobs, sandbox_jobs
from tradecounter.webhooks.deliver import Deliverer, deliver_all, delivering
from tradecounter.webhooks.manage import WebhookPolicy

log = structlog.get_logger()

JOBS_AT_ONCE = 5  # at the same time; they mostly wait for the mail server
POLL_SECONDS = 0.25  # seconds between polls for new jobs
HEARTBEAT_SECONDS = 5.0
REQUEUE_SECONDS = 5.0  # seconds between checks for jobs of dead workers
STOP_SECONDS = 10.0  # seconds for running jobs to finish before they are requeued
RECONNECT_SECONDS = 2.0  # seconds between attempts to reach the database


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


class Schedule(PeriodicDeferrer):
    """Queues the scheduled jobs when they are due; of several runs that a job has missed, only the last one."""

    def __init__(self) -> None:
        super().__init__(PeriodicRegistry())  # type: ignore[no-untyped-call]

    def get_previous_tasks(self, at: float) -> Iterable[TaskAtTime]:
        """Yield the jobs that are due at a Unix time, with the times of their runs."""
        # The library would wait until a clock that was set back shows the time of the last run again.
        self.last_defers = {key: last for key, last in self.last_defers.items() if 0 <= at - last <= self.max_delay}
        return super().get_previous_tasks(at)


async def run_worker(
    settings: Settings, url: str, clock: Clock, stop: asyncio.Event, backlog: Backlog | None = None
) -> None:
    """Run jobs until `stop` is set; if the database is lost, retry until it can be reached.

    `backlog` is kept current meanwhile. Raises SettingsError if the mail settings are invalid.
    """
    worker = _Worker(settings, url, clock, backlog)
    stopping = asyncio.create_task(stop.wait())
    failures = FailureLog("the database cannot be reached, the worker tries again")
    while not stop.is_set():
        try:
            await worker.run(stopping)
        except (ConnectorException, psycopg.OperationalError) as error:
            failures.add(error)
        await asyncio.wait({stopping}, timeout=RECONNECT_SECONDS)


async def drain(settings: Settings, url: str, clock: Clock) -> None:
    """Run all due jobs; return when no further job can start. Scheduled jobs are not queued."""
    worker, due = _Worker(settings, url, clock), 1
    async with Database(url, connections=1) as database:
        while due:  # after a job, the next job of its group may start
            await worker.run(stopping=None)
            async with reading(database) as tx:
                due = (await waiting_jobs(tx)).due
        await number_all(database)
        await deliver_all(_deliverer(settings, database, clock))


def _deliverer(settings: Settings, database: Database, clock: Clock) -> Deliverer:
    policy = WebhookPolicy.from_settings(settings)
    return Deliverer(database, clock, policy.vault, HttpSender(policy.networks, policy.allow_http))


class _Worker:
    def __init__(self, settings: Settings, url: str, clock: Clock, backlog: Backlog | None = None) -> None:
        self._backlog = backlog
        self._mail_settings = MailSettings.from_settings(settings)
        self._transport = transport_for(settings)
        self._secrets = RegisteredKeys(lambda: secret_keys(settings))
        self._settings = settings
        self._url = url
        self._clock = clock

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
            app, schedule = procrastinate.App(connector=connector), Schedule()
            self._add_jobs(app, schedule.registry, database)
            deliverer = _deliverer(self._settings, database, self._clock)
            watching = nullcontext() if self._backlog is None else self._backlog.watching(database)
            async with app.open_async(), numbering(database), delivering(deliverer), watching:
                await _requeue(app, database)  # also where the worker ends with the last due job
                working = asyncio.create_task(
                    app.run_worker_async(
                        concurrency=JOBS_AT_ONCE,
                        task_middleware=[_in_span, noting_failures(database, self._clock)],
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
                beside = {
                    asyncio.create_task(
                        repeated(
                            partial(_requeue_and_check_key, app, database, self._secrets),
                            "jobs of dead workers are requeued later",
                            REQUEUE_SECONDS,
                        )
                    ),
                    asyncio.create_task(connector.lost.wait()),
                }
                ends = {working}
                if stopping is not None:
                    beside.add(asyncio.create_task(schedule.worker()))
                    ends.add(stopping)
                await asyncio.wait(ends | beside, return_when=asyncio.FIRST_COMPLETED)
                await drop_tasks(beside, "scheduling and requeuing of jobs")
                if not working.done():
                    working.cancel()  # the queue library's worker finishes its current jobs
                with suppress(asyncio.CancelledError):
                    await working

    def _add_jobs(self, app: procrastinate.App, scheduled: PeriodicRegistry, database: Database) -> None:
        add_mail_jobs(app, database, self._clock, self._mail_settings, self._transport)
        add_access_jobs(app, database, self._clock, lambda: self._mail_settings.secrets()[0])
        add_billing_jobs(app, database, self._clock, self._mail_settings.letterhead)
        for job in (*periodic_jobs(self._settings), *sandbox_jobs(self._settings, database)):
            task = _scheduled_task(app, job, database, self._clock)
            scheduled.register_task(task, cron=job.cron, periodic_id="", configure_kwargs={})


async def _in_span(call_next: Callable[[], Awaitable[Any]], context: procrastinate.JobContext, _worker: Any) -> Any:
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
    """Requeue the jobs of workers without a recent heartbeat.

    One worker at a time requeues jobs: a second worker with an older list would requeue restarted jobs.
    """
    async with transaction(database) as tx:
        if not await tx.fetch_value(TRY_TO_REQUEUE_STALLED_JOBS):
            return
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=SILENT_SECONDS):
            try:
                await app.job_manager.retry_job(job)
            except ConnectorException as error:
                if isinstance(error.__cause__, psycopg.OperationalError):
                    raise
                continue  # it has ended, or another job with its queueing lock is queued; the next check decides
            log.warning("job of a dead worker requeued", job=job.task_name, arguments=job.task_kwargs)


async def _requeue_and_check_key(app: procrastinate.App, database: Database, secrets: RegisteredKeys) -> float:
    """Requeue jobs of dead workers, and log when the secret key is not the database's any more."""
    await _requeue(app, database)
    async with reading(database) as tx:
        await secrets.look(tx)
    return REQUEUE_SECONDS
