"""Numbers the events of committed transactions.

A transaction draws the position of its event after the lock on the event's subject. The next transaction with that
subject gets the lock only after the first has committed. So a snapshot that shows the second event shows the first one
too, and the order of positions is the order of each subject's events.
"""

import asyncio
import time
from contextlib import AbstractAsyncContextManager

import structlog

from tradecounter.db.pool import Database, FailureLog
from tradecounter.db.transaction import transaction
from tradecounter.events.queries import BATCH, number_events
from tradecounter.kit.tasks import in_background

log = structlog.get_logger()

TICK_SECONDS = 0.1
_BEHIND_SECONDS = 10.0  # of full batches, after which the log says that numbering cannot keep up
_PAUSE_SECONDS = 2.0  # after a failure


def numbering(database: Database) -> AbstractAsyncContextManager[None]:
    """Number events in the background while the block runs; a failure is logged, and numbering goes on."""
    return in_background(lambda: _number_periodically(database))


async def number_all(database: Database) -> int:
    """Number all events that are committed now; return how many."""
    total = 0
    while count := await _number_batch(database):
        total += count
    return total


async def _number_batch(database: Database) -> int:
    async with transaction(database) as tx:
        return await number_events(tx)


async def _number_periodically(database: Database) -> None:
    behind_since = warned_at = None
    failures = FailureLog("events could not be numbered")
    while True:
        try:
            count = await _number_batch(database)
        except Exception as error:  # noqa: BLE001 logged, and the next tick tries again
            failures.add(error)
            await asyncio.sleep(_PAUSE_SECONDS)
            continue
        now = time.monotonic()
        if count < BATCH:
            behind_since = None
            await asyncio.sleep(TICK_SECONDS)
        elif behind_since is None:
            behind_since = warned_at = now
        elif now - (warned_at or now) > _BEHIND_SECONDS:
            warned_at = now
            log.warning("numbering of events is behind", seconds=round(now - behind_since))
