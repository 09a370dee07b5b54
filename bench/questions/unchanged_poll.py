"""Polling an unchanged page: the response is 304, from nginx too. And what counting polls for the request log costs.

The fast path may pay little for the log, less than rates differ from round to round. So two servers, one without the
counts, are compared by their processor time for a poll, in pairs of short rounds.
"""

import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.kit.figures import Row, milliseconds
from bench.kit.load import Load, Target, in_turns, press, write_requests
from bench.kit.processes import BenchError
from bench.kit.product import PROGRAM, serving
from bench.kit.reads import ReadQuestion, compare, warmed
from bench.kit.store import Store
from bench.kit.workbench import Workbench

MOST_FOR_LOG = 1.03

QUESTION = ReadQuestion(
    question="Unchanged poll",
    what="304 on `GET /product?limit=100` with `If-None-Match`",
    path_of=lambda _: "/product?limit=100",
    goal=0.2,
    unchanged=True,
)

_WITHOUT: tuple[str | Path, ...] = (sys.executable, "-m", "bench.kit.without_request_log")
_PAIRS = 15
_ROUND_SECONDS = 2


def measure(bench: Workbench) -> list[Row]:
    """Compare the product with nginx, then with itself without the counts of the request log."""
    return [*compare(bench, QUESTION), _request_log(bench)]


def _request_log(bench: Workbench) -> Row:
    folder = bench.place("request-log")
    before = _counted(bench.small)
    with ExitStack() as stack:
        ours, limit = (_polled(stack, bench.small, folder / name) for name in ("with", "without"))
        found = in_turns(bench.rounds if bench.quick else _PAIRS, lambda: _round(ours), lambda: _round(limit))
    counted, sent = _counted(bench.small) - before, sum(load.rate * _ROUND_SECONDS for load in found[0])
    if not sent <= counted < 2 * sent:  # more were sent before the rounds
        raise BenchError(f"of some {sent:.0f} polls, {counted} are in the request log")
    ratios = [without.core_rate / with_log.core_rate for with_log, without in zip(*found, strict=True)]
    costs = [median(1000 / load.core_rate for load in loads) for loads in found]
    return Row(
        question=QUESTION.question,
        what="processor time of a poll, with the request log to without",
        ratio=median(ratios),
        target=f"≤ {MOST_FOR_LOG} ×",
        bound=MOST_FOR_LOG,
        sound=not any(load.failed for loads in found for load in loads),
        ours=milliseconds(costs[0]),
        limit=milliseconds(costs[1]),
        note=f"the median of {len(ratios)} pairs of rounds, from {min(ratios):.2f} to {max(ratios):.2f}",
    )


def _polled(stack: ExitStack, store: Store, folder: Path) -> Target:
    """Start a server, which counts polls if the folder is `with`, and send each poll once."""
    folder.mkdir()
    program = (PROGRAM,) if folder.name == "with" else _WITHOUT
    server = stack.enter_context(serving(store.env, folder, program=program))
    polls, _ = warmed(server, QUESTION)
    return Target(server.host, server.port, server.pid, write_requests(folder / "polls", polls))


def _round(target: Target) -> Load:
    return press(target, _ROUND_SECONDS)


def _counted(store: Store) -> int:
    """Return how many reads are in the request log."""
    with store.connect() as connection:
        found = connection.execute("select coalesce(sum(count), 0)::bigint from request_log").fetchone()
    return 0 if found is None else int(found[0])
