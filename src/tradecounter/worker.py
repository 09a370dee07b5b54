"""Background jobs: a queue in the same PostgreSQL, and what runs on a schedule."""

import asyncio
from contextlib import suppress

import procrastinate
import structlog

from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.identity.clean_up import clean_up_identity
from tradecounter.kit.clock import Clock
from tradecounter.ordering.store import expire_orders

log = structlog.get_logger()

EVERY_FIVE_MINUTES = "*/5 * * * *"


def make_job_app(url: str, database: Database, clock: Clock) -> procrastinate.App:
    """Return the queue's application with all jobs."""
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=1, max_size=4))

    @app.periodic(cron=EVERY_FIVE_MINUTES)
    @app.task(name="expire_orders", queueing_lock="expire_orders", pass_context=False)
    async def expire(timestamp: int) -> None:
        async with transaction(database) as tx:
            count = await expire_orders(tx, clock.now())
        if count:
            log.info("pending orders expired", count=count, scheduled=timestamp)

    @app.periodic(cron=EVERY_FIVE_MINUTES)
    @app.task(name="clean_up_identity", queueing_lock="clean_up_identity", pass_context=False)
    async def clean_up(timestamp: int) -> None:
        async with transaction(database) as tx:
            count = await clean_up_identity(tx, clock.now())
        if count:
            log.info("old tokens and counts deleted", count=count, scheduled=timestamp)

    return app


async def run_worker(url: str, clock: Clock, stop: asyncio.Event) -> None:
    """Work on jobs until told to stop; jobs under way are finished."""
    async with Database(url, connections=4) as database:
        app = make_job_app(url, database, clock)
        async with app.open_async():
            working = asyncio.create_task(app.run_worker_async(install_signal_handlers=False, delete_jobs="successful"))
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if not working.done():
                working.cancel()  # the queue's worker finishes what it is doing
            with suppress(asyncio.CancelledError):
                await working
