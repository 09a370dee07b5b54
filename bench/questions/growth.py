"""What grows with the catalogue, from 3,641 to 100,000 products: the time of a page, the memory, the start.

Pages are timed by the processor time that a request costs the server: once with the queries of everyday in rotation,
and once with queries that are new, so that no cached response helps; searches too.
"""

from bench.kit.customers import COUNT
from bench.kit.figures import Row, megabytes, milliseconds, seconds
from bench.kit.growth import Grown, grown
from bench.kit.workbench import LARGE, MEDIUM, Workbench

MOST_SLOWER = 1.5
MOST_FOR_A_SEARCH = 2
MOST_KIB = 3
START_SECONDS = 10


def measure(bench: Workbench) -> list[Row]:
    """Measure three sizes."""
    sizes = [len(bench.catalogue.products), MEDIUM, LARGE]
    found = {size: grown(bench, bench.store(size)) for size in sizes}
    return [
        *_pages("usual pages", {size: one.usual_ms for size, one in found.items()}),
        *_pages("pages never asked before", {size: one.new_ms for size, one in found.items()}),
        _searches(found[LARGE]),
        _memory("after the start", {size: one.bytes_at_start for size, one in found.items()}),
        _memory(f"after {COUNT:,} customers asked", {size: one.bytes_after for size, one in found.items()}),
        _start(found[LARGE]),
    ]


def _pages(what: str, taken: dict[int, float]) -> list[Row]:
    smallest, *_, largest = taken
    ratio = taken[largest] / taken[smallest]
    return [
        Row(
            question="Growth",
            what=f"processor time of {what}, {largest:,} to {smallest:,} products",
            ratio=ratio,
            target=f"≤ {MOST_SLOWER} ×",
            bound=MOST_SLOWER,
            ours=milliseconds(taken[largest]),
            limit=milliseconds(taken[smallest]),
            note=", ".join(f"{size:,} products: {milliseconds(time)}" for size, time in taken.items()),
            points={f"{size:,} products": time for size, time in taken.items()},
        )
    ]


def _searches(largest: Grown) -> Row:
    ratio = largest.search_ms / largest.new_ms
    return Row(
        question="Growth",
        what=f"processor time of searches never asked before, to that of such pages, {LARGE:,} products",
        ratio=ratio,
        target=f"≤ {MOST_FOR_A_SEARCH} ×",
        bound=MOST_FOR_A_SEARCH,
        ours=milliseconds(largest.search_ms),
        limit=milliseconds(largest.new_ms),
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


def _start(largest: Grown) -> Row:
    return Row(
        question="Growth",
        what=f"start with {LARGE:,} products, to the first page",
        ratio=largest.start_seconds / START_SECONDS,
        target=f"≤ {START_SECONDS} s",
        bound=1,
        ours=seconds(largest.start_seconds),
        note="the ratio is to the target",
    )
