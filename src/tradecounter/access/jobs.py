"""The job that looks up who has forgotten a password."""

from collections.abc import Callable

import procrastinate

from tradecounter.access.change_password import mail_password_link
from tradecounter.db.jobs import JobName
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.kit.clock import Clock

_NAME: JobName = "find_forgotten_password"
_RETRY = procrastinate.RetryStrategy(max_attempts=12, exponential_wait=2)  # for about two hours


def add_access_jobs(app: procrastinate.App, database: Database, clock: Clock, secret: Callable[[], str]) -> None:
    """Add the job to the queue. If it runs twice, the second run finds no request."""

    @app.task(name=_NAME, retry=_RETRY, pass_context=False)
    async def find_forgotten_password(request_id: int) -> None:
        async with transaction(database) as tx:
            await mail_password_link(tx, request_id, secret(), clock.now())
