"""Jobs: looking up who has forgotten a password, and deleting what has expired."""

from collections.abc import Callable
from datetime import datetime, timedelta

import procrastinate

from tradecounter.access.change_password import mail_password_link
from tradecounter.access.queries.sign_ins import delete_old_access
from tradecounter.access.rules import GUESSING_WINDOW
from tradecounter.db.jobs import JobName
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.clock import Clock

_NAME: JobName = "find_forgotten_password"
_RETRY = procrastinate.RetryStrategy(max_attempts=12, exponential_wait=2)  # for about two hours


def add_access_jobs(app: procrastinate.App, database: Database, clock: Clock, secret: Callable[[], str]) -> None:
    """Add the job to the queue. If it runs twice, the second run finds no request."""

    @app.task(name=_NAME, retry=_RETRY, pass_context=False)
    async def find_forgotten_password(request_id: int) -> None:
        async with transaction(database) as tx:
            await mail_password_link(tx, request_id, secret(), clock.now())


_KEPT = timedelta(days=30)  # links and ended sessions, so that support can see what became of one
_BROWSER_KEPT = timedelta(days=400)  # the longest that a browser keeps a cookie


async def clean_up_access(tx: Transaction, now: datetime) -> int:
    """Delete old links, sessions, browsers and wrong passwords; return how many."""
    return await delete_old_access(tx, ended=now - _KEPT, unused=now - _BROWSER_KEPT, failed=now - GUESSING_WINDOW)
