"""What grows with the catalogue, from 3,641 to 100,000 products: the time of a page, the memory, the start.

Pages are timed by the processor time that a request costs the server: once with the queries of everyday in rotation,
and once with queries that are new, so that no cached response helps; searches too.
"""

from bench.kit.customers import COUNT
from bench.kit.figures import Row, megabytes, milliseconds, seconds
from bench.kit.growth import Grown, grown
from bench.kit.workbench import LARGE, MEDIUM, Workbench

MOST_SLOWER = 1.5
MOST_SLOWER_NEW = 1.4
MOST_MS, MOST_MS_LARGE = 0.4, 0.55  # of a page that was never asked before, with the smallest and the largest catalogue
MOST_FILTERED_MS = 0.6
MOST_SEARCH_MS = 0.8
MOST_KIB = 3
START_SECONDS = 1


def measure(bench: Workbench) -> list[Row]:
    """Measure three sizes."""
    sizes = [len(bench.catalogue.products), MEDIUM, LARGE]
    found = {size: grown(bench, bench.store(size)) for size in sizes}
    return [
        _pages("usual pages", {size: one.usual_ms for size, one in found.items()}, MOST_SLOWER),
        _pages("pages never asked before", {size: one.new_ms for size, one in found.items()}, MOST_SLOWER_NEW),
        _of_one("pages", sizes[0], found[sizes[0]].new_ms, MOST_MS),
        _of_one("pages", LARGE, found[LARGE].new_ms, MOST_MS_LARGE),
        _of_one("filtered and sorted pages", LARGE, found[LARGE].filtered_ms, MOST_FILTERED_MS),
        _of_one("searches", LARGE, found[LARGE].search_ms, MOST_SEARCH_MS),
        _memory("after the start", {size: one.bytes_at_start for size, one in found.items()}),
        _memory(f"after {COUNT:,} customers asked", {size: one.bytes_after for size, one in found.items()}),
        *(_start(size, found[size]) for size in (sizes[0], LARGE)),
    ]


def _pages(what: str, taken: dict[int, float], most: float) -> Row:
    smallest, *_, largest = taken
    return Row(
        question="Growth",
        what=f"processor time of {what}, {largest:,} to {smallest:,} products",
        ratio=taken[largest] / taken[smallest],
        target=f"≤ {most} ×",
        bound=most,
        ours=milliseconds(taken[largest]),
        limit=milliseconds(taken[smallest]),
        note=", ".join(f"{size:,} products: {milliseconds(time)}" for size, time in taken.items()),
        points={f"{size:,} products": time for size, time in taken.items()},
    )


def _of_one(what: str, products: int, taken: float, most: float) -> Row:
    return Row(
        question="Growth",
        what=f"processor time of one of the {what} never asked before, {products:,} products",
        ratio=taken / most,
        target=f"≤ {most} ms",
        bound=1,
        ours=milliseconds(taken),
        limit=milliseconds(most),
        note="the ratio is to the target",
    )


def _memory(when: str, taken: dict[int, int]) -> Row:
    smallest, *_, largest = taken
    kib = (taken[largest] - taken[smallest]) / (largest - smallest) / 1024
    return Row(
        question="Growth",
        what=f"memory of a process for each product, {when}",
        ratio=kib / MOST_KIB,
        target=f"≤ {MOST_KIB} KiB",
        bound=1,
        ours=f"{kib:.2f} KiB",
        note=", ".join(f"{size:,} products: {megabytes(count)}" for size, count in taken.items()),
    )


def _start(products: int, found: Grown) -> Row:
    return Row(
        question="Growth",
        what=f"start with {products:,} products, to the first page",
        ratio=found.start_seconds / START_SECONDS,
        target=f"≤ {START_SECONDS} s",
        bound=1,
        ours=seconds(found.start_seconds),
        note="the ratio is to the target",
    )
