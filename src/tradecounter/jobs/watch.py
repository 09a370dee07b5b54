"""Reads what waits in the database now and then, for the worker's metrics.

Only workers do this: in every process, the same figures would cost the database more and tell nothing new.
"""

import time
from collections import Counter
from contextlib import AbstractAsyncContextManager

from tradecounter.db.jobs import failed_jobs, waiting_jobs, workers_heard_of
from tradecounter.db.pool import Database, repeated
from tradecounter.db.server_state import read_base_backup, read_wal_archive
from tradecounter.db.transaction import Transaction, reading
from tradecounter.events.record import ALL_TYPES
from tradecounter.jobs.queries import events_by_type, last_event, waiting_figures
from tradecounter.kit.tasks import in_background
from tradecounter.monitoring.metrics import Figures, one, process_figures
from tradecounter.webhooks.queries.endpoints import webhooks_in_trouble

READ_EVERY_SECONDS = 5.0


class Backlog:
    """The figures of the last reading; `silent_seconds` without a heartbeat make a worker count as dead."""

    def __init__(self, silent_seconds: float) -> None:
        self._silent_seconds = silent_seconds
        self._database: Database | None = None
        self._figures: Figures = {}
        self._events = Counter(dict.fromkeys(ALL_TYPES, 0))  # or the first event shows no rate
        self._last_event: int | None = None
        self._read_at = time.monotonic()

    def figures(self) -> Figures:
        """Return the figures of the worker's process and the last reading; may be called in any thread."""
        own = {} if self._database is None else process_figures("worker", self._database.pool.get_stats())
        return {**own, **self._figures, "backlog_age_seconds": one(time.monotonic() - self._read_at)}

    async def read(self, tx: Transaction) -> None:
        """Read the figures."""
        jobs, trouble = await waiting_jobs(tx), await webhooks_in_trouble(tx)
        await self._count_events(tx)
        self._figures = {
            "jobs_due": one(jobs.due),
            "jobs_due_seconds": one(0 if jobs.oldest is None else jobs.oldest.total_seconds()),
            "jobs_scheduled": one(jobs.later),
            "jobs_failed": {(failed.task_name,): [failed.count] for failed in await failed_jobs(tx)},
            "workers_alive": one((await workers_heard_of(tx, self._silent_seconds)).alive),
            **{name: one(value) for name, value in (await waiting_figures(tx)).items()},
            "webhooks_failing": one(trouble.failing),
            "webhooks_stopped": one(trouble.stopped),
            "wal_archive_failing_seconds": one((await read_wal_archive(tx)).failing_seconds),
            "base_backup_age_seconds": one((await read_base_backup(tx)).age_seconds),
            "events": {(kind,): [number] for kind, number in self._events.items()},
        }
        self._read_at = time.monotonic()

    async def _count_events(self, tx: Transaction) -> None:
        last = await last_event(tx)
        if self._last_event is not None and last > self._last_event:
            self._events.update(dict(await events_by_type(tx, self._last_event, last)))
        self._last_event = last

    def watching(self, database: Database) -> AbstractAsyncContextManager[None]:
        """Read the figures again and again while the block runs; a failure is logged, and reading goes on."""
        self._database = database

        async def read() -> float:
            async with reading(database) as tx:
                await self.read(tx)
            return READ_EVERY_SECONDS

        return in_background(lambda: repeated(read, "the figures for the metrics were not read", READ_EVERY_SECONDS))
