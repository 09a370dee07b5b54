"""Many workers on one machine: do they share a large catalogue, and what does one more of them cost at its start?

Both are measured beside the other workers, which have mapped the catalogue. A worker is killed, and the new one that
takes its place is timed by its own processor time until it responds.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

from bench.kit.api_processes import connected_to_every_process, wait_for_every_process, warm_every_process
from bench.kit.figures import Row, megabytes, seconds
from bench.kit.http import request_text
from bench.kit.processes import BenchError, family_bytes, own_processor_seconds
from bench.kit.product import Server, serving
from bench.kit.reads import headers_of
from bench.kit.store import Store
from bench.kit.workbench import LARGE, Workbench

WORKERS = 8
MOST_KIB = 3  # for each product, all workers together
START_SECONDS = 1.0

_LEAST_KIB = 0.01
_ROUNDS = 3
_POLL_SECONDS = 0.02
_GIVE_UP_SECONDS = 120


@dataclass(frozen=True, slots=True)
class _Measured:
    """Bytes of all processes, and processor seconds of a worker that starts beside the others."""

    memory: int
    start: float


def measure(bench: Workbench) -> list[Row]:
    """Measure the memory with a small and a large catalogue, and starts with the large one."""
    stores = bench.small, bench.store(LARGE)
    small, large = (_measured(bench, store) for store in stores)
    products = len(stores[1].products) - len(stores[0].products)
    # Small catalogues are not shared, so eight copies of one can take more than the large one.
    kib = max(_LEAST_KIB, (large.memory - small.memory) / products / 1024)
    return [
        Row(
            question="Many workers",
            what=f"memory of eight workers for each product, {len(stores[0].products):,} to {LARGE:,} products",
            ratio=kib / MOST_KIB,
            target=f"≤ {MOST_KIB} KiB",
            bound=1,
            ours=f"{kib:.2f} KiB",
            note=f"all processes: {megabytes(small.memory)} and {megabytes(large.memory)}",
        ),
        Row(
            question="Many workers",
            what=f"processor time of one more worker's start with {LARGE:,} products, to its first page",
            ratio=large.start / START_SECONDS,
            target=f"≤ {START_SECONDS:.0f} s",
            bound=1,
            ours=seconds(large.start),
            note=f"the median of {_ROUNDS}; with the smallest catalogue {seconds(small.start)}",
        ),
    ]


def _measured(bench: Workbench, store: Store) -> _Measured:
    folder = bench.place(f"many-workers-{len(store.products)}")
    page = request_text("/product?limit=100", headers_of(0))
    with serving(store.env, folder, workers=WORKERS) as server:
        wait_for_every_process(server)
        warm_every_process(server, [page])
        memory = family_bytes(server.pid)
        return _Measured(memory, median(_started(server, page) for _ in range(_ROUNDS)))


def _started(server: Server, page: bytes) -> float:
    """Kill a worker; return the processor seconds that its successor has used when it has responded."""
    before = server.processes()
    os.kill(before[0], signal.SIGKILL)
    until = time.monotonic() + _GIVE_UP_SECONDS
    while time.monotonic() < until:
        with suppress(BenchError, OSError), connected_to_every_process(server) as connections:
            for pid in connections.keys() - set(before):
                connections[pid].fetch(page)
                return own_processor_seconds(pid)
        time.sleep(_POLL_SECONDS)
    raise BenchError(f"after {_GIVE_UP_SECONDS} s no other worker has taken the place of one that was killed")
