"""Twenty thousand own orders at once: do `GET /order?limit=0` and `GET /customer/credit` leave room for others?

Four clients of one customer repeat their request without pause. Meanwhile others read a hundred pages
of products a second. Measured: the time of those pages, and the additional memory of the server.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.kit.figures import Row, megabytes, milliseconds, shown
from bench.kit.http import Connection, request_text
from bench.kit.load import Load, Target, press, press_at, write_requests, wrk_command
from bench.kit.million_orders import copy_orders, place_original
from bench.kit.processes import BenchError, end, forget_peak, peak_bytes, resident_bytes
from bench.kit.product import Server, serving
from bench.kit.reads import CSV, JSON, headers_of
from bench.kit.store import Store
from bench.kit.workbench import Workbench

OWN = 20_000
AT_ONCE = 4
MOST_MS = 50
MOST_BYTES = 50_000_000

_CUSTOMER = 7
_OTHERS_RATE = 100
_OTHERS = 200
_LISTS = (
    ("`GET /order?limit=0`, JSON", "/order?limit=0", JSON),
    ("`GET /order?limit=0`, CSV", "/order?limit=0", CSV),
    ("`GET /customer/credit`", "/customer/credit", JSON),
)


def measure(bench: Workbench) -> list[Row]:
    """Measure each list on a server of its own, which has sent none before."""
    store = bench.copy_of(bench.small, "long-lists")
    with serving(store.env, store.folder) as server, store.connect() as connection:
        place_original(server, store, _CUSTOMER)
        copy_orders(connection, OWN, [store.customer_ids[_CUSTOMER]], whole=True)
    return [row for what, path, media in _LISTS for row in _rows(bench, store, what, path, media)]


def _rows(bench: Workbench, store: Store, what: str, path: str, media: str) -> list[Row]:
    request = request_text(path, headers_of(_CUSTOMER, {"Accept": media}))
    with serving(store.env, store.folder) as server:
        pages = [request_text("/product?limit=100", headers_of(number)) for number in range(_OTHERS)]
        others = Target(server.host, server.port, server.pid, write_requests(store.folder / "pages", pages))
        press(others, 1)
        before = press_at(others, _OTHERS_RATE, 2 * bench.seconds)
        resident = resident_bytes(server.pid)
        forget_peak(server.pid)
        with _repeated_requests(server, request, store.folder):
            meanwhile = press_at(others, _OTHERS_RATE, 4 * bench.seconds)
        grown = peak_bytes(server.pid) - resident
        size, seconds = _alone(server, request)
    return [_time(what, before, meanwhile, seconds), _memory(what, grown, size)]


@contextmanager
def _repeated_requests(server: Server, request: bytes, folder: Path) -> Iterator[None]:
    """Repeat a request on several connections without pause while the block runs."""
    target = Target(server.host, server.port, server.pid, write_requests(folder / "list", [request]))
    command = wrk_command(target, 600, connections=AT_ONCE)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            end(process)


def _alone(server: Server, request: bytes) -> tuple[int, float]:
    """Return the size of the response in bytes, and the seconds that it takes without other load."""
    with Connection(server.host, server.port) as connection:
        found = connection.fetch(request)
    if found.status != 200:
        raise BenchError(f"the list got status {found.status}: {found.body[:200]!r}")
    return len(found.body), found.seconds


def _time(what: str, before: Load, meanwhile: Load, seconds: float) -> Row:
    return Row(
        question="Long lists",
        what=f"p99 of pages while {AT_ONCE} read {what} without pause, {OWN:,} orders",
        ratio=meanwhile.p99 / MOST_MS,
        target=f"≤ {MOST_MS} ms",
        bound=1,
        sound=meanwhile.failed == 0,
        ours=milliseconds(meanwhile.p99),
        limit=milliseconds(MOST_MS),
        p50=milliseconds(meanwhile.p50),
        p99=milliseconds(meanwhile.p99),
        note=f"{_OTHERS_RATE} pages a second, the slowest took {milliseconds(meanwhile.worst)}; before, p99 was "
        f"{milliseconds(before.p99)}; one list alone takes {shown(seconds)} s; {meanwhile.failed} failed",
    )


def _memory(what: str, grown: int, size: int) -> Row:
    return Row(
        question="Long lists",
        what=f"memory that {AT_ONCE} at once add: {what}",
        ratio=grown / MOST_BYTES,
        target=f"≤ {megabytes(MOST_BYTES)}",
        bound=1,
        ours=megabytes(grown),
        limit=megabytes(MOST_BYTES),
        note=f"the response has {megabytes(size)}",
    )
