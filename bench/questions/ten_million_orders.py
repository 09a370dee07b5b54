"""Does the ten-millionth order cost what the first did? Orders, confirmations, lists and searches, in two databases.

One has ten million orders of five years, with their events, audit entries and idempotency keys; the other only the
orders of twenty customers, two hundred each, which are in the large one too. Both are asked the same, in turns.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, islice
from pathlib import Path

from bench.kit.customers import COUNT
from bench.kit.figures import Row, milliseconds, per_second, shown
from bench.kit.http import Connection, request_text
from bench.kit.load import Load, Target, in_turns, middle, press, write_requests
from bench.kit.many_orders import FIRST, WATCHED_ORDERS, add_orders
from bench.kit.million_orders import place_original
from bench.kit.pages_read import PageCounter
from bench.kit.people import add_member
from bench.kit.processes import BenchError
from bench.kit.product import Server, backoffice, serving, tradecounter
from bench.kit.reads import headers_of
from bench.kit.store import Store
from bench.kit.workbench import Workbench
from bench.questions.place_orders import PARALLEL, orders

MANY = 10_000_000
MOST_SLOWER = 1.5

_WATCHED = 20
_FEW = _WATCHED * WATCHED_ORDERS
_COUNTED = 50  # requests by which pages of tables are counted
_WARM_UP = 20
_MOST_PER_SECOND = 1200  # orders to prepare
_READERS = 4
_SUCCESS = range(200, 304)  # a search with one hit leads to it


@dataclass(slots=True)
class _Side:
    """One of the databases, with the service and the back office on it."""

    store: Store
    orders: int
    api: Server
    office: Server
    cookie: str
    token: str
    runs: Iterator[int] = field(default_factory=count)

    @property
    def step(self) -> int:
        """The distance of watched orders."""
        return self.orders // _FEW

    def number(self, customer: int, place: int) -> int:
        """Return the number of a watched customer's order, counted from 1."""
        return FIRST + self.step * (customer + _WATCHED * place)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request to repeat: `make` returns different ones for a side."""

    what: str
    make: Callable[[_Side, int], list[bytes]]
    repeated: bool = True  # whether the same requests can be sent again
    connections: int = _READERS
    office: bool = False


def measure(bench: Workbench) -> list[Row]:
    """Measure both databases in turns."""
    many = MANY // 100 if bench.quick else MANY
    with ExitStack() as stack:
        few, grown = (_side(bench, stack, size) for size in (_FEW, many))
        pages = _pages_read(bench, few, grown)
        rows = [_row(bench, asked, few, grown, pages[asked.what]) for asked in _QUESTIONS]
        return [*rows, _jobs(few, grown)]


def _side(bench: Workbench, stack: ExitStack, size: int) -> _Side:
    store = bench.copy_of(bench.small, f"orders_{size}")
    with serving(store.env, store.folder) as server, store.connect() as connection:
        place_original(server, store, _WATCHED)
        bench.say(f"adding {size:,} orders")
        add_orders(connection, store.url, size, store.customer_ids[:_WATCHED], bench.say)
    token = tradecounter(store.env, "token", "add", "--name", "bench", "--scope", "audit:read")["token"]
    api = stack.enter_context(serving(store.env, store.folder))
    office = stack.enter_context(backoffice(store.env, store.folder))
    return _Side(store, size, api, office, add_member(store, office).cookie_at(office), token)


def _pages_read(bench: Workbench, few: _Side, grown: _Side) -> dict[str, list[float]]:
    bench.say("counting pages")
    sides = (few, grown)
    for side in sides:
        for asked in _QUESTIONS:
            _send(side, asked, _WARM_UP)
    counter = PageCounter([side.store for side in sides])
    return {
        asked.what: counter.read_for([partial(_send, side, asked, _COUNTED) for side in sides]) for asked in _QUESTIONS
    }


def _row(bench: Workbench, asked: _Asked, few: _Side, grown: _Side, pages: list[float]) -> Row:
    bench.say(asked.what)
    alone, among = in_turns(bench.rounds, lambda: _press(bench, few, asked), lambda: _press(bench, grown, asked))
    least, most = middle(alone), middle(among)
    return Row(
        question="Ten million orders",
        what=asked.what,
        ratio=most.p50 / least.p50 if least.p50 else 0,
        target=f"≤ {MOST_SLOWER} × with {few.orders:,}",
        bound=MOST_SLOWER,
        sound=most.failed == 0 and min(least.p50, most.p50) > 0,  # without a response, there is no median
        ours=per_second(most.rate),
        limit=per_second(least.rate),
        p50=milliseconds(most.p50),
        p99=milliseconds(most.p99),
        note=f"medians {milliseconds(most.p50)} and {milliseconds(least.p50)}, p99 {milliseconds(most.p99)} and"
        f" {milliseconds(least.p99)}; PostgreSQL reads {shown(pages[1])} and {shown(pages[0])} pages for one;"
        f" {most.failed} failed",
    )


def _send(side: _Side, asked: _Asked, wanted: int) -> int:
    """Send some requests, one after the other; return how many."""
    server = side.office if asked.office else side.api
    requests = asked.make(side, wanted)
    with Connection(server.host, server.port) as connection:
        for request in requests:
            response = connection.fetch(request)
            if response.status not in _SUCCESS:
                raise BenchError(f"{asked.what} got status {response.status}: {response.body[:300]!r}")
    return len(requests)


def _press(bench: Workbench, side: _Side, asked: _Asked) -> Load:
    server = side.office if asked.office else side.api
    seconds = bench.seconds
    requests = asked.make(side, _COUNTED if asked.repeated else _MOST_PER_SECOND * seconds)
    target = Target(server.host, server.port, server.pid, write_requests(side.store.folder / "asked", requests))
    return press(target, seconds, connections=asked.connections)


def _orders(side: _Side, wanted: int) -> list[bytes]:
    return list(islice(orders(list(side.store.products), f"ten{next(side.runs)}"), wanted))


def _confirmations(side: _Side, wanted: int) -> list[bytes]:
    """Place orders, and return the requests that confirm them."""
    requests = []
    with Connection(side.api.host, side.api.port) as connection:
        for number, request in enumerate(_orders(side, min(wanted, 1500))):
            code = json.loads(connection.fetch(request).body)["confirmation_code"]
            headers = headers_of(number % COUNT, {"Content-Type": "application/json"})
            requests.append(request_text(f"/order/{code}", headers, method="PUT"))
    return requests


def _own(path: str) -> Callable[[_Side, int], list[bytes]]:
    """Return requests of the watched customers, for all of their orders or for one."""

    def make(side: _Side, wanted: int) -> list[bytes]:
        return [
            request_text(path.format(number=side.number(n % _WATCHED, 1 + n // _WATCHED)), headers_of(n % _WATCHED))
            for n in range(_WATCHED, _WATCHED + wanted)
        ]

    return make


def _office(path: str, *, token: bool = False) -> Callable[[_Side, int], list[bytes]]:
    """Return requests of the back office, for the order of a watched customer."""

    def make(side: _Side, wanted: int) -> list[bytes]:
        headers = (
            {"Authorization": f"Bearer {side.token}", "Accept": "application/json"}
            if token
            else {"Cookie": side.cookie, "Accept": "text/html"}
        )
        hour = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
        return [
            request_text(path.format(number=side.number(n % _WATCHED, 1 + n // _WATCHED), hour=hour), headers)
            for n in range(_WATCHED, _WATCHED + wanted)
        ]

    return make


_QUESTIONS: Sequence[_Asked] = (
    _Asked(f"`POST /order`, three lines, {PARALLEL} in parallel", _orders, repeated=False, connections=PARALLEL),
    _Asked(f"`PUT` confirmation, {PARALLEL} in parallel", _confirmations, repeated=False, connections=PARALLEL),
    _Asked("`GET /order?limit=100`, 200 own orders", _own("/order?limit=100")),
    _Asked("`GET /order?customer_reference=`", _own("/order?customer_reference=PO-{number}")),
    _Asked("`GET /order/{reference}`", _own("/order/ORD-{number}")),
    _Asked("`GET /event?limit=100`", _own("/event?limit=100")),
    _Asked("back office, latest orders", _office("/order"), office=True),
    _Asked("back office, orders that await dispatch", _office("/order?status=Awaiting%20dispatch"), office=True),
    _Asked("back office, orders by total", _office("/order?sort=-total"), office=True),
    _Asked("back office, search for a reference", _office("/search?q=ORD-{number}"), office=True),
    _Asked("back office, search for a customer's reference", _office("/search?q=PO-{number}"), office=True),
    _Asked("back office, an order with its history", _office("/order/ORD-{number}"), office=True),
    _Asked("back office, start page", _office("/"), office=True),
    _Asked("back office, audit log", _office("/audit"), office=True),
    _Asked("`GET /api/audit?from=` of an hour ago", _office("/api/audit?from={hour}", token=True), office=True),
)


def _jobs(few: _Side, grown: _Side) -> Row:
    """Measure a run of each scheduled job of the worker."""
    (alone, _), (among, first) = _jobs_of(few), _jobs_of(grown)
    slowest, longest = max(among, key=lambda name: among[name]), max(first, key=lambda name: first[name])
    each = ", ".join(
        f"`{name}` {milliseconds(taken)}, with few {milliseconds(alone[name])}" for name, taken in among.items()
    )
    return Row(
        question="Ten million orders",
        what="the slowest scheduled job of the worker, in a minute in which ten products change",
        ratio=among[slowest] / _MOST_JOB_MS,
        target=f"≤ {_MOST_JOB_MS} ms",
        bound=1,
        ours=milliseconds(among[slowest]),
        limit=milliseconds(_MOST_JOB_MS),
        note=f"{each}; the first batch after all {len(grown.store.products):,} products have changed:"
        f" `{longest}` {milliseconds(first[longest])}",
    )


_MOST_JOB_MS = 500


def _jobs_of(side: _Side) -> tuple[dict[str, float], dict[str, float]]:
    """Return the milliseconds of each job's batch in an ordinary minute, and of its first batch."""
    command = [sys.executable, "-m", "bench.kit.jobs", side.store.url]
    done = subprocess.run(command, env=side.store.env, capture_output=True, text=True, check=False, cwd=_ROOT)
    if done.returncode != 0:
        raise BenchError(f"the jobs failed: {done.stderr[-500:]}")
    taken: dict[str, dict[str, float]] = json.loads(done.stdout)
    return taken["later"], taken["first"]


_ROOT = Path(__file__).parents[2]
