"""Measures what each kind of work costs: each alone, with the processor time of every part before and after.

The processor time of a process is the kernel's, of all its threads and of children that have ended. What the parts
use at rest is measured first, and taken away from every later figure.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

from bench.kit import machine
from bench.kit.customers import COUNT
from bench.kit.event_log import append_events
from bench.kit.processes import BenchError
from bench.kit.workbench import Workbench
from bench.load_model.costs import API, PARTS, POSTGRES, PROFILES, WORKER, Costs, Seconds, rendered
from bench.load_model.day import (
    CONFIRM,
    DISPATCH,
    FEED,
    IMPORTS,
    INVOICE,
    LOOK,
    ORDER,
    PAYMENT,
    POLL,
    PRODUCT,
    SEARCH,
    STORY,
    WEBHOOK,
)
from bench.load_model.site import Site, connect_as_administrator
from bench.load_model.work import Work

_PARALLEL = 4
_REST_SECONDS = 8.0
_SETTLING_SECONDS = 1.5  # until the worker has numbered events and sent mails
_CHANGES = 12
_CHANGING_RATE = 20  # polls a second while stock changes
_COUNTS = {POLL: 4000, PRODUCT: 4000, SEARCH: 1000, FEED: 12, LOOK: 600, **dict.fromkeys(STORY, 300)}
_WARM_UP = {FEED: 1, **dict.fromkeys(STORY, 40)}
_IMPORTS = 2
_AFTER_IMPORT_SECONDS = 10.0  # until the API has read what is new
_DELIVERIES = 2000
_LONGEST_SECONDS = 600
_UNDONE = """
    select exists (select from unnumbered_event)
        or exists (select from procrastinate_jobs where status in ('todo', 'doing') and scheduled_at is null)
"""
_MEASURED = (SEARCH, PRODUCT, FEED, ORDER, CONFIRM, LOOK, DISPATCH, INVOICE, PAYMENT)


class Calibration:
    """One calibration of a site with one API process."""

    def __init__(self, bench: Workbench, site: Site, work: Work) -> None:
        self._bench, self._site, self._work = bench, site, work
        self._idle: Seconds = dict.fromkeys(PARTS, 0.0)
        self._share = 4 if bench.quick else 1

    def costs(self) -> Costs:
        """Measure everything; takes two minutes."""
        kinds: dict[str, Seconds] = {}
        quietness = machine.Quietness(self._bench.postgres_pid)
        for customer in range(COUNT):  # the first request of each is no usual one
            self._work.poll(customer, tag=False)
        self._say("at rest")
        self._idle = self._per_second(lambda: time.sleep(_REST_SECONDS))
        self._say("polls")
        count = _COUNTS[POLL] // self._share
        kinds[POLL] = self._cost(count, lambda n: self._work.poll(n % COUNT, tag=False))
        unchanged = self._cost(count, lambda n: self._work.poll(n % COUNT, tag=True))[API]
        # Another page for each customer with the same prices, so that none is in memory.
        fresh = self._cost(
            count // 4, lambda n: self._work.poll(n % COUNT, tag=False, more=f"&page={2 + n // PROFILES}")
        )
        render = max(0.0, fresh[API] - kinds[POLL][API])
        swap, view = self._changing(kinds[POLL][API], render)
        log = -self._log_bytes()
        before = self._flushes()
        for name in _MEASURED:
            self._say(name)
            for _ in range(_WARM_UP.get(name, 0)):
                self._work.do(name)
            kinds[name] = self._cost(max(1, _COUNTS[name] // self._share), partial(self._do, name))
        log += self._log_bytes()
        flush, flushes = self._flush_cost(before)
        for name in IMPORTS:
            self._say(name)
            self._work.do(name)
            time.sleep(_AFTER_IMPORT_SECONDS)
            kinds[name] = self._cost(_IMPORTS, partial(self._do, name), settling=_AFTER_IMPORT_SECONDS, parallel=1)
        self._say("webhooks")
        kinds[WEBHOOK] = self._webhooks()
        stories = _COUNTS[ORDER] // self._share + _WARM_UP[ORDER]
        return Costs(
            f"{datetime.now(UTC):%d %B %Y, %H:%M} UTC",
            machine.described(),
            kinds,
            self._idle,
            swap,
            view,
            render,
            unchanged,
            flush,
            flushes / stories,
            log / stories,
            {"stories": stories},
            quietness.others(),
        )

    def _do(self, name: str, _: int) -> None:
        self._work.do(name)

    def _say(self, what: str) -> None:
        self._bench.say(f"calibrating: {what}")

    def _per_second(self, action: Callable[[], object]) -> Seconds:
        start, before = time.monotonic(), self._site.used()
        action()
        after, lasted = self._site.used(), time.monotonic() - start
        return {part: (after[part] - before[part]) / lasted for part in PARTS}

    def _cost(
        self, count: int, do: Callable[[int], object], *, settling: float = _SETTLING_SECONDS, parallel: int = _PARALLEL
    ) -> Seconds:
        """Return what one of so many costs each part, beyond what it uses at rest."""

        def action() -> None:
            with ThreadPoolExecutor(parallel) as threads:
                for _ in threads.map(do, range(count)):
                    pass
            self._settle(settling)

        self._settle(0.2)
        start = time.monotonic()
        used = self._per_second(action)
        lasted = time.monotonic() - start
        return {part: max(0.0, (used[part] - self._idle[part]) * lasted / count) for part in PARTS}

    def _settle(self, seconds: float) -> None:
        """Wait until the worker has numbered all events and run all jobs, which belong to what was done before."""
        until = time.monotonic() + _LONGEST_SECONDS
        with self._site.store.connect() as connection:
            while connection.execute(_UNDONE).fetchone() == (True,):
                if time.monotonic() > until:
                    raise BenchError(f"the worker has not done its jobs after {_LONGEST_SECONDS} s")
                time.sleep(0.25)
        time.sleep(seconds)

    def _changing(self, from_memory: float, render: float) -> tuple[float, float]:
        """Return what a change of stock costs an API process, and the first request of a customer after it."""
        self._say("changes of stock")

        def change() -> None:
            for _ in range(_CHANGES):
                self._work.adjust()
                time.sleep(1.05)

        def change_and_poll() -> None:
            customers = iter(range(10**9))
            for _ in range(_CHANGES):
                self._work.adjust()
                until = time.monotonic() + 1.05
                for _ in range(_CHANGING_RATE):
                    self._work.poll(next(customers) * 7 % COUNT, tag=True)
                    time.sleep(1 / _CHANGING_RATE - 0.003)
                time.sleep(max(0.0, until - time.monotonic()))

        start = time.monotonic()
        alone = (self._per_second(change)[API] - self._idle[API]) * (time.monotonic() - start) / _CHANGES
        start = time.monotonic()
        polled = (self._per_second(change_and_poll)[API] - self._idle[API]) * (time.monotonic() - start) / _CHANGES
        each = (polled - alone) / _CHANGING_RATE
        view = each - from_memory - render * rendered(_CHANGING_RATE) / _CHANGING_RATE
        return max(0.0, alone), max(0.0, view)

    def _log_bytes(self) -> float:
        with connect_as_administrator(self._bench) as connection:
            [(count,)] = connection.execute("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')").fetchall()
        return float(str(count))

    def _flushes(self) -> tuple[float, float]:
        time.sleep(11)  # idle backends report their figures every ten seconds
        with connect_as_administrator(self._bench) as connection:
            [(count, milliseconds)] = connection.execute(
                "select sum(fsyncs), sum(fsync_time) from pg_stat_io where object = 'wal'"
            ).fetchall()
        return float(str(count)), float(str(milliseconds)) / 1000

    def _flush_cost(self, before: tuple[float, float]) -> tuple[float, float]:
        """Return the seconds of one flush, and how many there were."""
        after = self._flushes()
        count = after[0] - before[0]
        if count <= 0:
            raise BenchError("PostgreSQL has flushed nothing: is fsync off?")
        return (after[1] - before[1]) / count, count

    def _webhooks(self) -> Seconds:
        """Have events by SQL posted: what a delivery costs the worker and PostgreSQL."""
        count = _DELIVERIES // self._share
        receiver, target = self._site.receiver, self._site.receiver.accepted + count

        def deliver() -> None:
            with self._site.store.connect() as connection:
                append_events(connection, count, self._site.store.customer_ids)
            until = time.monotonic() + _LONGEST_SECONDS
            while receiver.accepted < target:
                if time.monotonic() > until:
                    raise BenchError(f"{receiver.accepted} of {target} deliveries after {_LONGEST_SECONDS} s")
                time.sleep(0.05)
            time.sleep(_SETTLING_SECONDS)

        start = time.monotonic()
        with self._site.posting():
            used = self._per_second(deliver)
        lasted = time.monotonic() - start
        found = {part: max(0.0, (used[part] - self._idle[part]) * lasted / count) for part in PARTS}
        return {part: found[part] if part in {WORKER, POSTGRES} else 0.0 for part in PARTS}
