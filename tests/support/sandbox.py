"""A sandbox with the small catalogue, whose orders live at the test's clock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg

from support.service import Service, running_service
from support.shop import stock_shop
from tradecounter.db.transaction import transaction
from tradecounter.sites.schedule import sandbox_jobs

PACE = timedelta(minutes=1)


@contextmanager
def running_sandbox(database_url: str, **settings: Any) -> Iterator[Service]:
    """Serve a sandbox on a database while the block runs."""
    with psycopg.connect(database_url) as connection:
        connection.execute("update installation set sandbox = true")
    with running_service(database_url, sandbox=True, **settings) as service:
        stock_shop(service)
        yield service


def live(service: Service, steps: float = 1) -> int:
    """Let time pass, and the orders take the steps that are due; how many were taken."""
    with living(service, steps) as one_pass:
        return one_pass()


@contextmanager
def living(service: Service, steps: float = 1) -> Iterator[Callable[[], int]]:
    """Let time pass; a function that makes one pass of the same worker."""
    service.clock.advance(PACE * steps)
    job = sandbox_jobs(service.settings, service.commands)[0]

    async def run() -> int:
        async with transaction(service.commands) as tx:
            return await job.work(tx, service.clock.now())

    yield lambda: service.call(run)
