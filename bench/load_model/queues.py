"""Simulates the queues of a site: events in time order, work that goes from station to station.

Own code, since a queue with first come, first served needs a heap and little else: SimPy's coroutines would be several
times slower for the millions of requests of a day.
"""

import heapq
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import NamedTuple

from bench.load_model.costs import API, OFFICE, POSTGRES, WORKER, Costs
from bench.load_model.day import FEED, IMPORTS, STORY, WEBHOOK, Rates

SLICE_SECONDS = 0.005  # long work gives way to others this often
FLUSH = "flush"


class Step(NamedTuple):
    """What a job needs of a part: the station, and the seconds there."""

    part: str
    place: str
    seconds: float


@dataclass(slots=True)
class Job:
    """One piece of work: where it goes next, and whether it has a connection to the database."""

    kind: str
    begun: float
    steps: deque[Step]
    connected: bool = False


@dataclass(slots=True)
class Station:
    """Servers with one queue: the cores of a machine, or one process. Work that is long takes turns.

    Each server renders one feed at a time, as the product does; `feeds` wait for that.
    """

    servers: int
    busy: float = 0.0
    free: int = field(init=False)
    queue: deque[tuple[Job, float]] = field(default_factory=deque)
    rendering: int = 0
    feeds: deque[tuple[Job, float]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.free = self.servers


@dataclass(slots=True)
class Flushes:
    """The log: one flush at a time, for all transactions that wait when it begins."""

    seconds: float
    waiting: list[Job] = field(default_factory=list)
    flushing: list[Job] = field(default_factory=list)
    busy: float = 0.0


@dataclass(frozen=True, slots=True)
class Machines:
    """What a site runs on: API processes with a core each, and the cores of the other parts."""

    api: int
    office: int
    worker: int
    postgres: int


@dataclass(slots=True)
class Found:
    """What a simulation shows: seconds by kind, the share of each station that was used, connections at once."""

    seconds: dict[str, list[float]]
    used: dict[str, float]
    connections: int

    def quantile(self, kinds: Sequence[str], share: float) -> float:
        """Return the seconds within which this share of these kinds was done."""
        ordered = sorted(taken for kind in kinds for taken in self.seconds.get(kind, ()))
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


class Simulation:
    """A site under the rates of some minutes. With `shared` cores, all parts run on the same ones."""

    def __init__(self, costs: Costs, machines: Machines, *, shared: int = 0, seed: int = 1) -> None:
        self._costs, self._machines, self._shared = costs, machines, shared
        self._dice = random.Random(seed)  # noqa: S311 the same on every run
        self._stations: dict[str, Station] = {}
        if shared:
            self._stations["cores"] = Station(shared)
        else:
            self._stations |= {f"{API} {n}": Station(1) for n in range(machines.api)}
            self._stations |= {f"{OFFICE} {n}": Station(1) for n in range(machines.office)}
            self._stations |= {f"{WORKER} {n}": Station(1) for n in range(machines.worker)}
            self._stations[POSTGRES] = Station(machines.postgres)
        self.flushes = Flushes(costs.flush)
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = count()
        self._found = Found({}, {}, 0)
        self._connections = 0

    def run(self, rates: Rates, seconds: float) -> Found:
        """Simulate these rates for so long, and what remains then; kinds of work arrive at random."""
        needs = {name: self._costs.of(name, rates, self._machines.api) for name in rates}
        for name, rate in rates.items():
            if rate > 0:
                self._arrive(name, rate, needs[name], seconds)
        self._rest(rates, seconds)
        while self._events:
            now, _, what = heapq.heappop(self._events)
            what(now)
        self._found.used = {
            name: station.busy / seconds / station.servers for name, station in self._stations.items()
        } | {FLUSH: self.flushes.busy / seconds}
        return self._found

    def at(self, moment: float, what: Callable[[float], None]) -> None:
        """Have something happen at a moment."""
        heapq.heappush(self._events, (moment, next(self._numbers), what))

    def _arrive(self, name: str, rate: float, needs: Mapping[str, float], until: float) -> None:
        def arrive(now: float) -> None:
            self._at_next(arrive, now + self._dice.expovariate(rate), until)
            self.enter(Job(name, now, self._steps(name, needs)), now)

        self._at_next(arrive, self._dice.expovariate(rate), until)

    def _at_next(self, arrive: Callable[[float], None], moment: float, until: float) -> None:
        if moment < until:
            self.at(moment, arrive)

    def _steps(self, name: str, needs: Mapping[str, float]) -> deque[Step]:
        """Return a job's way: into a process, to the database and its log, and out again."""
        dice = self._dice
        # Costs are means: single requests differ, imports hardly.
        factor = 1.0 if name in IMPORTS else dice.gammavariate(4, 0.25)
        if name == WEBHOOK:
            front, place = WORKER, self._place(WORKER, self._machines.worker)
        elif needs[OFFICE] > needs[API] or name in IMPORTS:
            front, place = OFFICE, self._place(OFFICE, self._machines.office)
        else:
            front, place = API, self._place(API, self._machines.api)
        here, database = needs[front] * factor, needs[POSTGRES] * factor
        if database < here / 1000:
            return deque([Step(front, place, here)])
        steps = deque([Step(front, place, here / 2), Step(POSTGRES, self._place(POSTGRES, 0), database)])
        if name in STORY or name in IMPORTS:
            steps.append(Step(FLUSH, FLUSH, 0.0))
        steps.append(Step(front, place, here / 2))
        return steps

    def _place(self, part: str, processes: int) -> str:
        if self._shared:
            return "cores"
        return f"{part} {self._dice.randrange(processes)}" if processes else part

    def _rest(self, rates: Rates, seconds: float) -> None:
        """Add what nobody waits for, once a second: polls for changes, numbering, mails, imports in each process."""
        total = self._costs.load(rates, self._machines.api)
        waited = {API: 0.0, OFFICE: 0.0, WORKER: 0.0, POSTGRES: 0.0}
        for name, rate in rates.items():
            needs = self._costs.of(name, rates, self._machines.api)
            front = WORKER if name == WEBHOOK else OFFICE if needs[OFFICE] > needs[API] or name in IMPORTS else API
            waited[front] += rate * needs[front]
            waited[POSTGRES] += rate * needs[POSTGRES]
        processes = {API: self._machines.api, OFFICE: self._machines.office, WORKER: self._machines.worker}
        for part, wanted in total.items():
            each = max(0.0, wanted - waited[part]) / processes.get(part, 1)
            for n in range(processes.get(part, 1)):
                place = "cores" if self._shared else part if part == POSTGRES else f"{part} {n}"
                offset = self._dice.random()
                for second in range(int(seconds)):
                    self.at(second + offset, partial(self._enter_unseen, Step("", place, each)))

    def _enter_unseen(self, step: Step, now: float) -> None:
        self.enter(Job("", now, deque([step])), now)

    def enter(self, job: Job, now: float) -> None:
        """Send a job to its next station, or note that it is done."""
        step = job.steps.popleft() if job.steps else None
        self._connect(job, connected=step is not None and step.part in {POSTGRES, FLUSH})
        if step is None:
            if job.kind:
                self._found.seconds.setdefault(job.kind, []).append(now - job.begun)
        elif step.part == FLUSH:
            self.flushes.waiting.append(job)
            if not self.flushes.flushing:
                self._flush(now)
        else:
            station = self._stations[step.place]
            if job.kind == FEED and station.rendering == station.servers:
                station.feeds.append((job, step.seconds))
                return
            station.rendering += job.kind == FEED
            self._serve(step.place, job, step.seconds, now)

    def _connect(self, job: Job, *, connected: bool) -> None:
        self._connections += connected - job.connected
        job.connected = connected
        self._found.connections = max(self._found.connections, self._connections)

    def _serve(self, name: str, job: Job, seconds: float, now: float) -> None:
        station = self._stations[name]
        if not station.free:
            station.queue.append((job, seconds))
            return
        station.free -= 1
        now_for = min(seconds, SLICE_SECONDS)
        station.busy += now_for
        self.at(now + now_for, lambda moment: self._served(name, job, seconds - now_for, moment))

    def _served(self, name: str, job: Job, left: float, now: float) -> None:
        station = self._stations[name]
        station.free += 1
        if left > 0:
            station.queue.append((job, left))
        elif job.kind == FEED:
            self._end_feed(station)
        if station.queue:
            following, seconds = station.queue.popleft()
            self._serve(name, following, seconds, now)
        if left <= 0:
            self.enter(job, now)

    def _end_feed(self, station: Station) -> None:
        if station.feeds:
            station.queue.append(station.feeds.popleft())
        else:
            station.rendering -= 1

    def _flush(self, now: float) -> None:
        self.flushes.flushing, self.flushes.waiting = self.flushes.waiting, []
        self.flushes.busy += self.flushes.seconds
        self.at(now + self.flushes.seconds, self._flushed)

    def _flushed(self, now: float) -> None:
        done, self.flushes.flushing = self.flushes.flushing, []
        for job in done:
            self.enter(job, now)
        if self.flushes.waiting:
            self._flush(now)
