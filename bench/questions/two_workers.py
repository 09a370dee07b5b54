"""Do two workers serve twice as much as one?

On two cores the load takes its share of both, so rates alone cannot tell. What can is what a request costs: two workers
on two cores of their own serve twice as much, times the cost with one worker, divided by the cost with two. That the
two share the work is seen from their processor times.
"""

from statistics import median

from bench.kit.api_processes import warm_every_process
from bench.kit.customers import COUNT
from bench.kit.figures import Row, per_second, shown
from bench.kit.http import request_text
from bench.kit.load import Load, Target, in_turns, middle, press, write_requests
from bench.kit.processes import own_processor_seconds
from bench.kit.product import Server, serving
from bench.kit.reads import headers_of
from bench.kit.workbench import Workbench

GOAL = 1.8

_CONNECTIONS = 32  # so that both workers get some


def measure(bench: Workbench) -> list[Row]:
    """Measure one and two workers in turns, all of them free to use both cores."""
    folder = bench.place("two-workers")
    env = bench.small.env
    requests = [request_text("/product?limit=100", headers_of(number)) for number in range(COUNT)]
    path = write_requests(folder / "requests", requests)
    with (
        serving(env, bench.place("one-worker"), cores="0,1") as one,
        serving(env, folder, workers=2, cores="0,1") as two,
    ):
        targets = [Target(server.host, server.port, server.pid, path) for server in (one, two)]
        for server in (one, two):
            warm_every_process(server, requests)
        before = _used_by_workers(two)
        alone, both = in_turns(
            bench.rounds,
            lambda: press(targets[0], bench.seconds, connections=_CONNECTIONS, cores="0,1"),
            lambda: press(targets[1], bench.seconds, connections=_CONNECTIONS, cores="0,1"),
        )
        shares = [after - start for start, after in zip(before, _used_by_workers(two), strict=True)]
    return [_row(alone, both, shares)]


def _used_by_workers(server: Server) -> list[float]:
    return [own_processor_seconds(pid) for pid in server.processes()]


def _row(alone: list[Load], both: list[Load], shares: list[float]) -> Row:
    one, two = middle(alone), middle(both)
    ratio = 2 * median(load.core_rate for load in both) / median(load.core_rate for load in alone)
    failed = one.failed + two.failed
    parts = " : ".join(f"{share / sum(shares):.0%}" for share in shares)
    return Row(
        question="Two workers",
        what="`GET /product?limit=100`, compared with one worker, without the load generator's processor time",
        ratio=ratio,
        target=f"≥ {GOAL} ×",
        goal=GOAL,
        sound=failed == 0,
        ours=f"{per_second(two.core_rate)} and core",
        limit=f"{per_second(one.core_rate)} and core",
        note=f"as seen with the load on the same two cores: {per_second(two.rate)} to {per_second(one.rate)}, "
        f"{shown(two.rate / one.rate)} ×, using {two.busy:.0%} and {one.busy:.0%} of a core; "
        f"the two workers' shares of the work: {parts}; {failed} failed",
    )
