"""Numbers the events of committed transactions.

A transaction draws the position of its event after the lock on the event's subject. The next transaction with that
subject gets the lock only after the first has committed. So a snapshot that shows the second event shows the first one
too, and the order of positions is the order of each subject's events.
"""

import time
from contextlib import AbstractAsyncContextManager

import structlog
from msgspec import Struct, field

from tradecounter.db.pool import Database, repeated
from tradecounter.db.transaction import transaction
from tradecounter.events.queries import BATCH, number_events
from tradecounter.kit.tasks import Seldom, in_background

log = structlog.get_logger()

TICK_SECONDS = 0.1
_BEHIND_SECONDS = 10.0  # of full batches, after which the log says that numbering cannot keep up
_PAUSE_SECONDS = 2.0  # after a failure


def numbering(database: Database) -> AbstractAsyncContextManager[None]:
    """Number events in the background while the block runs; a failure is logged, and numbering goes on."""
    return in_background(lambda: repeated(_Numbering(database).tick, "events could not be numbered", _PAUSE_SECONDS))


async def number_all(database: Database) -> int:
    """Number all events that are committed now; return how many."""
    total = 0
    while count := await _number_batch(database):
        total += count
    return total


async def _number_batch(database: Database) -> int:
    async with transaction(database) as tx:
        return await number_events(tx)


class _Numbering(Struct):
    """Numbers a batch at each tick; `behind_since` is when full batches began, in monotonic seconds."""

    database: Database
    behind_since: float | None = None
    warning: Seldom = field(default_factory=lambda: Seldom(_BEHIND_SECONDS))

    async def tick(self) -> float:
        """Number a batch; return the seconds to the next tick."""
        count = await _number_batch(self.database)
        if count < BATCH:
            self.behind_since = None
            return TICK_SECONDS
        self.behind_since = self.behind_since or time.monotonic()
        behind = time.monotonic() - self.behind_since
        if behind > _BEHIND_SECONDS and self.warning.is_due():
            log.warning("numbering of events is behind", seconds=round(behind))
        return 0.0
