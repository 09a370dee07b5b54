"""Runs the scheduled jobs of the worker and prints how long a batch of each took, as JSON: `jobs.py URL`.

Each first does what has waited since the database was filled, and then what a minute brings in which the stock of ten
products changes.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from tradecounter.db.pool import Database
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.events.queries import number_events
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import read_settings
from tradecounter.sites.schedule import periodic_jobs

_MOST_BATCHES = 100  # until a job has nothing left to do
_CHANGE = Statement(
    "update stock_level set available = available + 1, changed_by = pg_current_xact_id()"
    " where product_id in (select product_id from stock_level order by product_id limit 10)"
)

Work = Callable[[Transaction], Awaitable[int]]


async def main(url: str) -> dict[str, dict[str, float]]:
    """Return the milliseconds of the first batch of each job, and of its batch a minute later."""
    settings, now = read_settings(), SystemClock().now()
    jobs = {job.name: job.work for job in periodic_jobs(settings)}

    def at(moment: datetime, work: Callable[[Transaction, datetime], Awaitable[int]]) -> Work:
        return lambda tx: work(tx, moment)

    async with Database(url, connections=1) as database:
        first = {}
        for name, work in jobs.items():
            first[name] = await _taken(database, at(now, work))
            await _finish(database, at(now, work))
        first["number_events"] = await _taken(database, number_events)
        await _finish(database, number_events)
        async with transaction(database) as tx:
            await tx.execute(_CHANGE)
        later = now + timedelta(minutes=1)
        after = {name: await _taken(database, at(later, work)) for name, work in jobs.items()}
        after["number_events"] = await _taken(database, number_events)
    return {"first": first, "later": after}


async def _taken(database: Database, work: Work) -> float:
    start = time.perf_counter()
    async with transaction(database) as tx:
        await work(tx)
    return 1000 * (time.perf_counter() - start)


async def _finish(database: Database, work: Work) -> None:
    for _ in range(_MOST_BATCHES):
        async with transaction(database) as tx:
            if not await work(tx):
                return


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(sys.argv[1]))))
