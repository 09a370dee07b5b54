"""Two hundred programs read the event log, of customers and of the reseller: among a million events, and waiting.

Pages are read without pause, first from a log of ten thousand events, then of a million. Then all 200 wait for an event
at once: how many queries does that cost, and how soon do they all have an event?
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.kit.event_log import append_events
from bench.kit.figures import Row, milliseconds, per_second, seconds
from bench.kit.http import Connection, Response, request_text
from bench.kit.load import Load, Target, press, write_requests
from bench.kit.processes import OTHER_CORE, BenchError, pinned, running
from bench.kit.product import Server, backoffice, environment, serving, tradecounter
from bench.kit.reads import JSON, headers_of
from bench.kit.round_trips import Relay, relayed
from bench.kit.store import Store
from bench.kit.workbench import Workbench

FEW, MANY = 10_000, 1_000_000
POLLERS = 100  # of each kind
TAIL = 5
MOST_SLOWER = 1.5
TICK_SECONDS = 0.1
NOTICED_SECONDS = 1

_PAGE = 100
_REQUESTS = 1000  # with different positions
_LOOK = "select sequence, type, customer_id, for_customer from event"  # what a tick asks
_LONGEST_WAIT = 20
_NEW = """
insert into unnumbered_event (id, type, occurred_at, subject, customer_id, for_customer, data)
select 'evt_new' || id, 'order.confirmed', now(), 'order/new' || id, id, true, '{}' from unnest(%s::bigint[]) id
"""


def measure(bench: Workbench) -> list[Row]:
    """Measure pages, then waiting, for both sites."""
    store = bench.copy_of(bench.small, "event-log")
    token = tradecounter(store.env, "token", "add", "--name", "bench", "--scope", "events:read")["token"]
    many = MANY // 10 if bench.quick else MANY
    with serving(store.env, store.folder) as api, backoffice(store.env, store.folder) as office:
        sites = [_Site("`GET /event`", api, None), _Site("`GET /api/event`", office, token)]
        with store.connect() as connection:
            connection.execute("delete from unnumbered_event")  # of the store's imports: the log begins empty
            append_events(connection, FEW, store.customer_ids[:POLLERS])
            few = [_read(bench, site, store.folder, FEW) for site in sites]
            bench.say(f"adding {many:,} events")
            append_events(connection, many - FEW, store.customer_ids[: len(store.customer_ids) * many // MANY])
        found = [_read(bench, site, store.folder, many) for site in sites]
    rows = [
        row
        for site, alone, among in zip(sites, few, found, strict=True)
        for row in _page_rows(site, many, alone, among)
    ]
    return [*rows, *_waiting_rows(bench, store, token, many)]


@dataclass(frozen=True, slots=True)
class _Site:
    """One of both sites, and who polls it: a hundred customers, or a program of the reseller without a key."""

    name: str
    server: Server
    token: str | None

    def request(self, poller: int, query: str) -> bytes:
        """Return a poller's request."""
        if self.token is None:
            return request_text(f"/event?{query}", headers_of(poller))
        return request_text(f"/api/event?{query}", {"Authorization": f"Bearer {self.token}", "Accept": JSON})


def _read(bench: Workbench, site: _Site, folder: Path, size: int) -> Load:
    """Read full pages at positions all over the log, with a hundred connections."""
    dice = Random(size)  # noqa: S311 the same positions on every run
    # Each poller has a page of events in the large log's last quarter, and just one in the small log.
    last = 0 if size == FEW else size * 3 // 4
    requests = [
        site.request(number % POLLERS, f"after={dice.randint(0, last)}&limit={_PAGE}") for number in range(_REQUESTS)
    ]
    with Connection(site.server.host, site.server.port) as connection:
        for request in requests[:POLLERS]:
            response = connection.fetch(request)
            if response.status != 200 or len(json.loads(response.body)) != _PAGE:
                raise BenchError(f"a page of events has status {response.status}: {response.body[:200]!r}")
    target = Target(site.server.host, site.server.port, site.server.pid, write_requests(folder / "events", requests))
    press(target, 1, connections=POLLERS)
    return press(target, 2 * bench.seconds, connections=POLLERS)


def _page_rows(site: _Site, many: int, few: Load, among: Load) -> list[Row]:
    return [
        Row(
            question="Event log",
            what=f"{site.name}, pages of {_PAGE} among {many:,} events, {POLLERS} in parallel",
            ratio=among.p99 / among.p50,
            target=f"p99 ≤ {TAIL} × median",
            bound=TAIL,
            sound=among.failed == 0,
            ours=per_second(among.rate),
            p50=milliseconds(among.p50),
            p99=milliseconds(among.p99),
            note=f"{milliseconds(1000 / among.core_rate)} of the server's processor time each; {among.failed} failed",
        ),
        Row(
            question="Event log",
            what=f"the median of the same, to the median among {FEW:,}",
            ratio=among.p50 / few.p50,
            target=f"≤ {MOST_SLOWER} ×",
            bound=MOST_SLOWER,
            ours=milliseconds(among.p50),
            limit=milliseconds(few.p50),
            note=f"{per_second(few.rate)} among {FEW:,}; p99 {milliseconds(few.p99)}",
        ),
    ]


def _waiting_rows(bench: Workbench, store: Store, token: str, last: int) -> list[Row]:
    """Measure 200 waiting requests: the queries of each process, and the time until all have their event."""
    folders = [bench.place("event-log-api"), bench.place("event-log-office")]
    # Nothing else may add events meanwhile, as a worker's announcements of changed prices.
    numbering = [sys.executable, "-m", "bench.kit.numbering", store.url]
    with (
        relayed(store.url, folders[0], _LOOK) as (api_relay, api_url),
        relayed(store.url, folders[1], _LOOK) as (office_relay, office_url),
        serving(environment(api_url, folders[0]), folders[0]) as api,
        backoffice(environment(office_url, folders[1]), folders[1]) as office,
        running(pinned(numbering, str(OTHER_CORE)), log=store.folder / "numbering.log"),
    ):
        relays, sites = [api_relay, office_relay], [_Site("", api, None), _Site("", office, token)]
        with _all_waiting(sites, last) as waiting:
            _wait_until_quiet(relays)
            queries = [-relay.executions for relay in relays]
            lasted = -time.monotonic()
            time.sleep(2 * bench.seconds)
            queries = [before + relay.executions for before, relay in zip(queries, relays, strict=True)]
            lasted += time.monotonic()
            noticed = _noticed(store, waiting)
    names = (f"{POLLERS} waiting `GET /event`", f"{POLLERS} waiting `GET /api/event`")
    rows = [
        Row(
            question="Event log",
            what=f"queries of {name}, for each tick of {TICK_SECONDS} s",
            ratio=count / lasted * TICK_SECONDS,
            target="≤ 1",
            bound=1,
            sound=count > 0,
            ours=per_second(count / lasted),
            limit=per_second(1 / TICK_SECONDS),
            note=f"{count} queries in {seconds(lasted)}, counted by a relay between the process and the database",
        )
        for name, count in zip(names, queries, strict=True)
    ]
    row = Row(
        question="Event log",
        what=f"until all {2 * POLLERS} waiting requests have a new event",
        ratio=noticed / NOTICED_SECONDS,
        target=f"≤ {NOTICED_SECONDS} s",
        bound=1,
        ours=seconds(noticed),
        limit=seconds(NOTICED_SECONDS),
        note="from the commit of an event for each customer, numbering included",
    )
    return [*rows, row]


def _wait_until_quiet(relays: Sequence[Relay]) -> None:
    """Wait until all requests have read their first, empty page: from then on there are only ticks and a few polls."""
    for _ in range(_LONGEST_WAIT // 2):
        before = [(relay.executions, relay.round_trips) for relay in relays]
        time.sleep(1)
        if all(
            relay.executions - ticks > 0 and relay.round_trips - trips < POLLERS // 2
            for relay, (ticks, trips) in zip(relays, before, strict=True)
        ):
            return
    raise BenchError("the waiting requests still read the log")


@contextmanager
def _all_waiting(sites: Sequence[_Site], last: int) -> Iterator[list[Future[float]]]:
    """Have all pollers of both sites wait; yields when each has its event, in monotonic seconds."""
    requests = [
        (site.server, site.request(number, f"after={last}&wait={_LONGEST_WAIT}"))
        for site in sites
        for number in range(POLLERS)
    ]
    with ThreadPoolExecutor(len(requests)) as threads:
        yield [threads.submit(_waits, server, request) for server, request in requests]


def _waits(server: Server, request: bytes) -> float:
    with Connection(server.host, server.port) as connection:
        response: Response = connection.fetch(request)
    if response.status != 200 or not json.loads(response.body):
        raise BenchError(f"a waiting request has status {response.status}: {response.body[:200]!r}")
    return time.monotonic()


def _noticed(store: Store, waiting: Sequence[Future[float]]) -> float:
    """Add an event for each polling customer; return the seconds until the last of all requests has one."""
    with store.connect() as connection:
        connection.execute(_NEW, [store.customer_ids[:POLLERS]])
    committed = time.monotonic()
    return max(future.result() for future in waiting) - committed
