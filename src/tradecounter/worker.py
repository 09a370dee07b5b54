"""Background jobs: a queue in the same PostgreSQL, and what runs on a schedule."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import procrastinate
import psycopg
import structlog
from procrastinate.exceptions import ConnectorException

from tradecounter.customers.queries.addresses import delete_old_addresses
from tradecounter.db.idempotency import forget_keys
from tradecounter.db.jobs import count_due
from tradecounter.db.pool import NOTICE_A_DEAD_PEER, WAIT_SECONDS, Database
from tradecounter.db.stalled_jobs import put_back_stalled_jobs
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.identity.clean_up import clean_up_identity
from tradecounter.kit.clock import Clock
from tradecounter.notifications.jobs import add_mail_jobs
from tradecounter.notifications.letters import Office
from tradecounter.notifications.post import post_of
from tradecounter.ordering.back_orders.expected_dates import update_expected_dates
from tradecounter.ordering.queries.changes import delete_expired_orders, expire_orders
from tradecounter.ordering.quotes.remind_of_quotes import remind_of_quotes
from tradecounter.settings import Settings

log = structlog.get_logger()

EVERY_MINUTE = "* * * * *"
EVERY_FIVE_MINUTES = "*/5 * * * *"

BATCH = 500  # orders, addresses or keys that one transaction of a retention job deletes
MOST_BATCHES = 20  # of a retention job each minute: it lasts a second or so, and a stop does not cut it off

JOBS_AT_ONCE = 5  # they mostly wait for a mail server
POLL_SECONDS = 0.25  # between two looks for new jobs
HEARTBEAT_SECONDS = 5.0
SILENT_SECONDS = 20.0  # after which a worker counts as gone
LOOK_SECONDS = 5.0  # between two looks for the jobs of workers that are gone
STOP_SECONDS = 10.0  # for jobs under way, before they are put back
AWAY_SECONDS = 2.0  # between two attempts to find the database back


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """Something done on a schedule; `work` returns how much there was to do.

    It is done in a transaction of its own, and again in another, up to `batches` times, until there is nothing to do.
    """

    name: str
    cron: str
    work: Callable[[Transaction, datetime], Awaitable[int]]
    done: str  # logged, with the count, unless there was nothing to do
    batches: int = 1


def periodic_jobs(settings: Settings) -> tuple[PeriodicJob, ...]:
    """Return what is done on a schedule."""
    orders, addresses = settings.keep_expired_orders, settings.keep_deleted_addresses
    return (
        PeriodicJob("expire_orders", EVERY_FIVE_MINUTES, expire_orders, "pending orders expired"),
        PeriodicJob("remind_of_quotes", EVERY_FIVE_MINUTES, remind_of_quotes, "customers reminded of quotes"),
        PeriodicJob(
            "update_expected_dates",
            EVERY_MINUTE,
            update_expected_dates,
            "expected dates changed",
            batches=MOST_BATCHES,
        ),
        PeriodicJob("clean_up_identity", EVERY_FIVE_MINUTES, clean_up_identity, "old tokens and counts deleted"),
        _retention("delete_expired_orders", orders, delete_expired_orders, "expired orders deleted for good"),
        _retention("delete_old_addresses", addresses, delete_old_addresses, "deleted addresses deleted for good"),
        _retention("forget_keys", settings.keep_idempotent_responses, forget_keys, "idempotency keys forgotten"),
    )


def _retention(
    name: str, keep: timedelta | None, delete: Callable[[Transaction, datetime, int], Awaitable[int]], done: str
) -> PeriodicJob:
    """Return the job that deletes what is older than `keep`; None keeps it for ever."""

    async def work(tx: Transaction, now: datetime) -> int:
        return 0 if keep is None else await delete(tx, now - keep, BATCH)

    return PeriodicJob(name, EVERY_MINUTE, work, done, batches=MOST_BATCHES)


class _Connector(procrastinate.PsycopgConnector):
    """The queue's connections. Notices when the database was lost while a job's end was being written down.

    The job would then count as under way for as long as this worker lives: it has to start anew.
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


async def run_worker(settings: Settings, url: str, clock: Clock, stop: asyncio.Event) -> None:
    """Work on jobs until told to stop; whenever the database is lost, wait for it and start anew.

    Raises SettingsError when mail cannot be sent as the settings say.
    """
    worker = _Worker(settings, url, clock)
    stopping = asyncio.create_task(stop.wait())
    while not stop.is_set():
        try:
            await worker.run(stopping)
        except (ConnectorException, psycopg.OperationalError):
            log.warning("the database cannot be reached, the worker tries again", exc_info=True)
        await asyncio.wait({stopping}, timeout=AWAY_SECONDS)


async def work_off(settings: Settings, url: str, clock: Clock) -> None:
    """Work on the jobs that are due, and return when there are none left that can be started."""
    worker = _Worker(settings, url, clock)
    async with Database(url, connections=1) as database:
        before, due = None, await _count_due(database)
        while before is None or 0 < due < before:  # of a group of jobs, the first is done: the next can start
            await worker.run(stopping=None)
            before, due = due, await _count_due(database)


async def _count_due(database: Database) -> int:
    async with reading(database) as tx:
        return await count_due(tx)


class _Worker:
    def __init__(self, settings: Settings, url: str, clock: Clock) -> None:
        self._office, self._post = Office.from_settings(settings), post_of(settings)
        self._periodic_jobs = periodic_jobs(settings)
        self._url, self._clock = url, clock

    async def run(self, stopping: asyncio.Task[Any] | None) -> None:
        """Work until `stopping` is done or the database is lost; without it, until no job is due."""
        connector = _Connector(
            conninfo=self._url,
            min_size=1,
            max_size=4,
            timeout=WAIT_SECONDS,
            reconnect_timeout=WAIT_SECONDS,
            kwargs={"connect_timeout": 5, **NOTICE_A_DEAD_PEER},
        )
        async with Database(self._url, connections=JOBS_AT_ONCE + 1) as database:
            await database.pool.wait(WAIT_SECONDS)  # the queue's own patience would be longer than a stop may take
            app = self._app(connector, database)
            async with app.open_async():
                await _put_back(app, database)
                working = asyncio.create_task(
                    app.run_worker_async(
                        concurrency=JOBS_AT_ONCE,
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
                looking = asyncio.create_task(_put_back_again_and_again(app, database))
                losing = asyncio.create_task(connector.lost.wait())
                ends = {working, losing} if stopping is None else {working, losing, stopping}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                looking.cancel()
                losing.cancel()
                if not working.done():
                    working.cancel()  # the queue's worker finishes what it is doing
                with suppress(asyncio.CancelledError):
                    await working

    def _app(self, connector: _Connector, database: Database) -> procrastinate.App:
        app = procrastinate.App(connector=connector)
        add_mail_jobs(app, database, self._clock, self._office, self._post)
        for job in self._periodic_jobs:
            _add_periodic(app, job, database, self._clock)
        return app


def _add_periodic(app: procrastinate.App, job: PeriodicJob, database: Database, clock: Clock) -> None:
    @app.periodic(cron=job.cron)
    @app.task(name=job.name, queueing_lock=job.name, pass_context=False)
    async def run(timestamp: int) -> None:
        count = 0
        for _ in range(job.batches):
            async with transaction(database) as tx:
                done = await job.work(tx, clock.now())
            if not done:
                break
            count += done
        if count:
            log.info(job.done, count=count, scheduled=timestamp)


async def _put_back(app: procrastinate.App, database: Database) -> None:
    async with transaction(database) as tx:
        await put_back_stalled_jobs(tx, app.job_manager, SILENT_SECONDS)


async def _put_back_again_and_again(app: procrastinate.App, database: Database) -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            await _put_back(app, database)
        except (ConnectorException, psycopg.OperationalError):
            log.warning("jobs of workers that are gone could not be looked for", exc_info=True)
