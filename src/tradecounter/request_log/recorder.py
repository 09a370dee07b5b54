"""Records customers' requests, stores them in batches, deletes them (specification, request log).

Each process stores what it has recorded about once a second, without waiting for the disk, and once more before it
ends; counts of reads every ten seconds while there are many. A process that is killed loses these; the audit log and
the idempotency keys, which are stored with the changes themselves, lose nothing. While the database is away, entries
wait, up to a limit.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import quote

import structlog
from msgspec import Struct, field

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.identity.admission import Holder
from tradecounter.identity.credentials import LiveAgent
from tradecounter.identity.queries.api_keys import ActiveKey
from tradecounter.kit.clock import Clock, whole_minute
from tradecounter.kit.tasks import Seldom
from tradecounter.request_log.queries import Counted, Logged, add_counts, add_requests, forget_requests

log = structlog.get_logger()

KEPT_FOR = timedelta(days=7)
_FIRST_ERROR = 400
MOST_ERRORS = 100  # of a key within a minute, in each process; further ones are counted like reads
_MOST_WRITES = 1_000
_MOST_WAITING = 20_000  # entries in a process, of each kind, that the database has not taken yet
MANY_COUNTS = 100  # of reads; more wait for `_MANY_WAIT`, since storing thousands each second costs more than counting
_MANY_WAIT = timedelta(seconds=10)
_READS = frozenset({"GET", "HEAD"})
_LONGEST_PATH = 500
_PATH_SAFE = "/:@!$&'()*+,;=~-._"
_Read = tuple[int, int | str, str, str]  # customer, id of the key or the application, method, route


def caller_of(holder: Holder) -> str:
    """Return the name of a key, an application or an agent in the log: `key/7`."""
    if isinstance(holder, LiveAgent):
        return f"agent/{holder.id}"
    return f"key/{holder.id}" if isinstance(holder, ActiveKey) else f"application/{holder.id}"


class Response(Struct, frozen=True):
    """What came of a request; `code` is that of an error, and `size` the length of the body as it was sent."""

    status: int
    code: str
    seconds: float
    size: int


class RequestRecorder(Struct):
    """The requests of one process that are not stored yet."""

    clock: Clock
    _reads: dict[_Read, int] = field(default_factory=dict)  # since they were last added to the counts
    _counts: dict[Counted, int] = field(default_factory=dict)
    _entries: list[Logged] = field(default_factory=list)
    _in_minute: Counter[tuple[str, bool]] = field(default_factory=Counter)
    _minute: datetime | None = None
    _left_out: Seldom = field(default_factory=Seldom)
    _many: Seldom = field(default_factory=lambda: Seldom(_MANY_WAIT.total_seconds()))  # says when many are stored

    def add_read(self, holder: Holder, method: str, route: str) -> None:
        """Count a read that succeeded; the fast path calls this for every cached response."""
        read = (holder.customer_id, holder.id, method, route)
        self._reads[read] = self._reads.get(read, 0) + 1

    def add(
        self, holder: Holder, method: str, route: str, path: Callable[[], str], request_id: str, response: Response
    ) -> None:
        """Record a request; one of many of a key within a minute is only counted.

        `path` returns the path without secrets; it is called if the path is stored.
        """
        is_error = response.status >= _FIRST_ERROR
        if method in _READS and not is_error:
            self.add_read(holder, method, route)
            return
        now = self.clock.now()
        caller = caller_of(holder)
        self._begin_minute(now)
        self._in_minute[caller, is_error] += 1
        if self._in_minute[caller, is_error] > (MOST_ERRORS if is_error else _MOST_WRITES):
            self._count(
                Counted(
                    customer_id=holder.customer_id,
                    caller=caller,
                    minute=whole_minute(now),
                    method=method,
                    route=route,
                    status=response.status,
                    code=response.code,
                ),
                1,
            )
        elif len(self._entries) < _MOST_WAITING:
            self._entries.append(
                Logged(
                    customer_id=holder.customer_id,
                    caller=caller,
                    at=now,
                    method=method,
                    path=quote(path(), safe=_PATH_SAFE)[:_LONGEST_PATH],
                    status=response.status,
                    code=response.code,
                    milliseconds=round(response.seconds * 1000),
                    request_id=request_id,
                    size=response.size,
                )
            )
        else:
            self._leave_out()

    async def share(self, database: Database, *, is_last: bool = False) -> None:
        """Store what was recorded; what cannot be stored waits, and so do many counts, but for the last time."""
        now = self.clock.now()
        self._begin_minute(now)
        reads = self._reads
        self._reads = {}
        for (customer_id, own_id, method, route), number in reads.items():
            caller = f"key/{own_id}" if isinstance(own_id, int) else f"application/{own_id}"
            self._count(
                Counted(customer_id=customer_id, caller=caller, minute=whole_minute(now), method=method, route=route),
                number,
            )
        counts = {}
        entries = self._entries
        if is_last or len(self._counts) <= MANY_COUNTS or self._many.is_due():
            counts = self._counts
            self._counts = {}
        if not counts and not entries:
            return
        self._entries = []
        try:
            async with transaction(database) as tx:
                await add_requests(tx, entries)
                await add_counts(tx, counts)
        except BaseException:
            self._entries = (entries + self._entries)[:_MOST_WAITING]
            for counted, number in counts.items():
                self._count(counted, number)
            raise

    def _count(self, counted: Counted, number: int) -> None:
        if counted in self._counts or len(self._counts) < _MOST_WAITING:
            self._counts[counted] = self._counts.get(counted, 0) + number
        else:
            self._leave_out()

    def _begin_minute(self, now: datetime) -> None:
        minute = whole_minute(now)
        if minute != self._minute:
            self._minute = minute
            self._in_minute.clear()

    def _leave_out(self) -> None:
        if self._left_out.is_due():
            log.warning("requests are left out of the log: too many wait for the database")


_BATCH = 5_000  # small rows that nobody else changes


async def forget_old_requests(tx: Transaction, now: datetime) -> int:
    """Delete a batch of old entries; return how many."""
    return await forget_requests(tx, now - KEPT_FOR, _BATCH)
