"""New prices and a new catalogue while pages are read: how much slower do they get, and when does every worker know?

The import runs on the load's core and in its way, so pages are timed three times at the same rate: undisturbed; with
the same import as a dry run, which does all but change anything; and with the import.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bench.kit.api_processes import connected_to_every_process, wait_for_every_process, warm_every_process
from bench.kit.catalogue import write_prices, write_products
from bench.kit.customers import PROFILES
from bench.kit.figures import Row, milliseconds, per_second, seconds
from bench.kit.http import request_text
from bench.kit.load import PACED_CONNECTIONS, Load, Target, press, press_at, read_load, write_requests, wrk_command
from bench.kit.processes import BenchError, processor_seconds
from bench.kit.product import Server, serving, tradecounter
from bench.kit.reads import headers_of
from bench.kit.store import Store
from bench.kit.workbench import LARGE, MEDIUM, Workbench

MOST_SLOWER = 2
VISIBLE_SECONDS = 5

MOST_WORKERS = 8

_COUNTS = {2: "two", MOST_WORKERS: "eight"}
_CUSTOMERS = 200
_OBSERVER = PROFILES  # a customer of the default list, without contract prices and discount
_NICE = 19  # the import shares a core with the load
_SETTLING = 4  # seconds that pages are timed after the import
_POLL_SECONDS = 0.02
_GIVE_UP_SECONDS = 180
_LONGEST_IMPORT_SECONDS = 600  # at the lowest priority, on a core that the load shares


@dataclass(frozen=True, slots=True)
class Change:
    """An import that changes something: its file, what is then seen of a product, and the statement that shows it."""

    name: str
    kind: str
    path: Path
    statement: str


def measure(bench: Workbench) -> list[Row]:
    """Measure both changes with two workers, and a new large catalogue with as many as a large machine has."""
    return [
        *_measured(bench, MEDIUM, 2, (_new_prices, _new_catalogue)),
        *_measured(bench, LARGE, MOST_WORKERS, (_new_catalogue,)),
    ]


def _measured(
    bench: Workbench, size: int, workers: int, changes: Sequence[Callable[[Store, Path], Change]]
) -> list[Row]:
    store = bench.store(size)
    folder = bench.place(f"new-snapshot-{size}")
    requests = [request_text("/product?limit=100", headers_of(number)) for number in range(_CUSTOMERS)]
    with serving(store.env, folder, workers=workers) as server:
        target = Target(server.host, server.port, server.pid, write_requests(folder / "requests", requests))
        wait_for_every_process(server)
        warm_every_process(server, requests)
        rate = press(target, bench.seconds).rate / 2
        calm = press_at(target, rate, 2 * bench.seconds)
        return [row for change in changes for row in _rows(store, server, target, rate, calm, change(store, folder))]


def _new_prices(store: Store, folder: Path) -> Change:
    return Change(
        "1 % of the prices change",
        "price-list",
        write_prices(folder / "prices.csv", store.products[::100], raised_by=1000),
        "select single_unit_cost::text from price join product p on p.id = product_id"
        " where price_list = 'default' and p.sku = %s",
    )


def _new_catalogue(store: Store, folder: Path) -> Change:
    size = len(store.products)
    return Change(
        "the whole catalogue changes" if size == MEDIUM else f"all {size:,} products change",
        "products",
        write_products(
            folder / "products.jsonl", [product | {"name": f"{product['name']} (new)"} for product in store.products]
        ),
        "select name from product p where p.sku = %s",
    )


def _rows(store: Store, server: Server, target: Target, rate: float, calm: Load, change: Change) -> list[Row]:
    start = time.monotonic()
    with _loaded(target, rate, _SETTLING) as idle:
        tradecounter(store.env, "import", change.kind, change.path, "--dry-run", nice=_NICE)
    lasted = time.monotonic() - start
    with _loaded(target, rate, lasted + _SETTLING) as busy:
        seen = _visible_after(store, server, change)
    dry, real = idle[0], busy[0]
    return [
        Row(
            question="New snapshot",
            what=f"p99 of pages while {change.name}",
            ratio=real.p99 / dry.p99,
            target=f"≤ {MOST_SLOWER} × a dry run's",
            bound=MOST_SLOWER,
            sound=real.failed == 0,
            ours=milliseconds(real.p99),
            limit=milliseconds(dry.p99),
            p50=milliseconds(real.p50),
            p99=milliseconds(real.p99),
            note=f"{per_second(real.rate)}, half of the full rate; p99 before {milliseconds(calm.p99)}, of which this "
            f"is {real.p99 / calm.p99:.2f} ×; {real.failed} failed",
        ),
        Row(
            question="New snapshot",
            what=f"until each of {_COUNTS[server.count]} workers shows it when {change.name}",
            ratio=max(seen.values()) / VISIBLE_SECONDS,
            target=f"≤ {VISIBLE_SECONDS} s",
            bound=1,
            ours=seconds(max(seen.values())),
            limit=seconds(VISIBLE_SECONDS),
            note="after the commit: " + " and ".join(map(seconds, seen.values())),
        ),
    ]


@contextmanager
def _loaded(target: Target, rate: float, at_least: float) -> Iterator[list[Load]]:
    """Load the server during the block, for at least this many seconds; the list then contains the measurements."""
    connections = PACED_CONNECTIONS
    command = wrk_command(
        target, round(at_least) + _SETTLING, connections=connections, pause_ms=max(1, round(1000 * connections / rate))
    )
    before = processor_seconds(target.pid)
    measured: list[Load] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        time.sleep(1)
        yield measured
        printed, _ = process.communicate(timeout=_GIVE_UP_SECONDS)
    measured.append(read_load(printed, processor_seconds(target.pid) - before))


def _visible_after(store: Store, server: Server, change: Change) -> dict[int, float]:
    """Import, and return the seconds from the commit until each worker shows another response, by worker."""
    sku = store.products[0]["sku"]
    request = request_text(f"/product/{quote(sku, safe='')}", headers_of(_OBSERVER))
    seen: dict[int, float] = {}
    committed = 0.0
    with connected_to_every_process(server) as connections, store.connect() as database:
        old = database.execute(change.statement.encode(), [sku]).fetchone()
        shown = {pid: connection.fetch(request).body for pid, connection in connections.items()}
        importing = threading.Thread(
            target=tradecounter, args=(store.env, "import", change.kind, change.path, "--force"), kwargs={"nice": _NICE}
        )
        importing.start()
        give_up = time.monotonic() + _LONGEST_IMPORT_SECONDS
        while len(seen) < len(connections):
            if not committed and database.execute(change.statement.encode(), [sku]).fetchone() != old:
                committed = time.monotonic()
                give_up = committed + _GIVE_UP_SECONDS
            for pid, connection in connections.items():
                if pid not in seen and connection.fetch(request).body != shown[pid]:
                    seen[pid] = time.monotonic()
            if time.monotonic() > give_up:
                waited = f"{_GIVE_UP_SECONDS} s after the commit, not every worker shows it"
                raise BenchError(f"{waited if committed else 'the import does not end'} when {change.name}")
            time.sleep(_POLL_SECONDS)
        importing.join()
    return {pid: max(0.0, moment - committed) for pid, moment in seen.items()}
