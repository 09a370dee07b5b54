"""Runs each scheduled job of the worker once and prints how long it took, as JSON: `jobs.py URL`."""

import asyncio
import json
import sys
import time

from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.events.queries import number_events
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import read_settings
from tradecounter.worker import periodic_jobs


async def main(url: str) -> dict[str, float]:
    """Return the milliseconds of one batch of each job, and of numbering events."""
    settings, now = read_settings(), SystemClock().now()
    works = {job.name: job.work for job in periodic_jobs(settings)}
    taken = {}
    async with Database(url, connections=1) as database:
        for name, work in works.items():
            start = time.perf_counter()
            async with transaction(database) as tx:
                await work(tx, now)
            taken[name] = 1000 * (time.perf_counter() - start)
        start = time.perf_counter()
        async with transaction(database) as tx:
            await number_events(tx)
        taken["number_events"] = 1000 * (time.perf_counter() - start)
    return taken


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(sys.argv[1]))))
