"""Orders with events and audit, and without: what does recording cost those who write?

Both servers share a database. They are judged by the processor time of server and database for an order, since rates
differ more from round to round than recording costs. A process that only numbers events runs all the time.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from statistics import median

from bench.kit.batch import send_each_once
from bench.kit.customers import COUNT
from bench.kit.figures import Row, milliseconds, per_second
from bench.kit.http import request_text
from bench.kit.load import in_turns
from bench.kit.processes import OTHER_CORE, BenchError, pinned, processor_seconds, running
from bench.kit.product import Server, serving
from bench.kit.reads import headers_of
from bench.kit.store import Store
from bench.kit.workbench import Workbench
from bench.questions.place_orders import orders

MOST_SLOWER = 1.05
MOST_SERVER_MS = 1.2
PARALLEL = 16

_EACH, _EACH_QUICK = 1500, 200  # orders in a round
_WARM_UP = 200
_WITHOUT = (sys.executable, "-m", "bench.kit.without_events")
_NUMBERED_SECONDS = 30
_CREATED, _OK = 201, 200


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of orders took: its rate, and the processor milliseconds of server and database for an order."""

    rate: float
    server: float
    database: float

    @property
    def both(self) -> float:
        """The processor milliseconds of both for an order."""
        return self.server + self.database


def measure(bench: Workbench) -> list[Row]:
    """Create and confirm orders on both servers in turns."""
    store = bench.copy_of(bench.small, "recorded-orders")
    each = _EACH_QUICK if bench.quick else _EACH
    numbering = pinned([sys.executable, "-m", "bench.kit.numbering", store.url], str(OTHER_CORE))
    runs = count()
    with (
        running(numbering, log=store.folder / "numbering.log"),
        serving(store.env, store.folder) as ours,
        serving(store.env, store.folder, program=_WITHOUT) as limit,
    ):
        _wait_until_numbered(store)  # events of orders that other questions have made
        before = _recorded(store)

        def on(server: Server) -> Callable[[], Round]:
            return lambda: _round(bench, store, server, next(runs), each)

        for server in (ours, limit):
            _order(store, server, next(runs), _WARM_UP)
        found = in_turns(bench.rounds, on(ours), on(limit))
        _require_recorded(store, before, _WARM_UP + bench.rounds * each)
    return _rows(_middle(found[0]), _middle(found[1]))


def _round(bench: Workbench, store: Store, server: Server, run: int, each: int) -> Round:
    with store.connect() as connection:
        connection.execute("vacuum analyze")  # plans that both servers made for empty tables are made again
        connection.execute("checkpoint")  # PostgreSQL logs whole pages after one, so that every round begins with one
    server_before, database_before = server.processor_seconds(), processor_seconds(bench.postgres_pid)
    rate = _order(store, server, run, each)
    _wait_until_numbered(store)
    return Round(
        rate,
        1000 * (server.processor_seconds() - server_before) / each,
        1000 * (processor_seconds(bench.postgres_pid) - database_before) / each,
    )


def _order(store: Store, server: Server, run: int, each: int) -> float:
    """Create and confirm orders; return the rate."""
    requests = list(islice(orders(list(store.products), f"recorded-{run}"), each))
    created = send_each_once(server, requests, PARALLEL, _CREATED)
    codes = [json.loads(response.body)["confirmation_code"] for response in created.responses]
    confirmations = [
        request_text(f"/order/{code}", headers_of(number % COUNT), method="PUT") for number, code in enumerate(codes)
    ]
    confirmed = send_each_once(server, confirmations, PARALLEL, _OK)
    return each / (created.seconds + confirmed.seconds)


def _wait_until_numbered(store: Store) -> None:
    give_up = time.monotonic() + _NUMBERED_SECONDS
    with store.connect() as connection:
        while connection.execute("select exists (select from unnumbered_event)").fetchone() == (True,):
            if time.monotonic() > give_up:
                raise BenchError(f"events are not numbered after {_NUMBERED_SECONDS} s")
            time.sleep(0.1)


def _recorded(store: Store) -> tuple[int, int]:
    """Return how many events and entries of the audit log are about creations and confirmations."""
    with store.connect() as connection:
        found = connection.execute(
            "select (select count(*) from event where type in ('order.created', 'order.confirmed')),"
            " (select count(*) from audit_entry where action in ('order.create', 'order.confirm'))"
        ).fetchone()
    return (0, 0) if found is None else (found[0], found[1])


def _require_recorded(store: Store, before: tuple[int, int], ordered: int) -> None:
    """Require two events and two entries of the audit log for each order of one server, and none of the other's."""
    found = tuple(now - then for now, then in zip(_recorded(store), before, strict=True))
    if found != (2 * ordered, 2 * ordered):
        raise BenchError(f"{ordered} orders have {found} events and entries of the audit log")


def _middle(rounds: Sequence[Round]) -> Round:
    return Round(*(median(getattr(each, name) for each in rounds) for name in ("rate", "server", "database")))


def _rows(ours: Round, limit: Round) -> list[Row]:
    return [
        Row(
            question="Recorded orders",
            what="processor time of an order, created and confirmed, with events and audit to without",
            ratio=ours.both / limit.both,
            target=f"≤ {MOST_SLOWER} ×",
            bound=MOST_SLOWER,
            ours=milliseconds(ours.both),
            limit=milliseconds(limit.both),
            note=f"server {milliseconds(ours.server)} to {milliseconds(limit.server)}; PostgreSQL, numbering included, "
            f"{milliseconds(ours.database)} to {milliseconds(limit.database)}",
        ),
        Row(
            question="Recorded orders",
            what="the server's processor time of the same, with events and audit",
            ratio=ours.server / MOST_SERVER_MS,
            target=f"≤ {MOST_SERVER_MS} ms",
            bound=1,
            ours=milliseconds(ours.server),
            limit=milliseconds(MOST_SERVER_MS),
            note="the ratio is to the target",
        ),
        Row(
            question="Recorded orders",
            what="the rate of the same, 16 in parallel",
            ratio=ours.rate / limit.rate,
            ours=per_second(ours.rate),
            limit=per_second(limit.rate),
            note="orders created and then confirmed, in a second",
        ),
    ]
