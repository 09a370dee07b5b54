"""`make hostile`: hostile clients beside honest ones, which must not notice; ten minutes.

The first third is without the hostile ones. Fails when an honest request fails, when the p99 of the honest ones more
than doubles, when the server's memory or descriptors grow beyond a bound, or when its log tells of an error. Server,
honest and hostile clients are processes of their own on the loopback; it ends by itself.

What is offered is moderate on purpose: some 30 honest requests a second and 200 hostile connections that do little. A
machine that is busy to its limit shows how long one waits for the processor, and nothing of the service: how busy it
was is printed. For the same reason a p99 below 10 ms counts as 10 ms: that much two shared cores add by themselves.
"""

import argparse
import math
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.parse import urlsplit

from rigs.fuzz.fuzzed_service import fuzzed_service
from rigs.fuzz.raw_fuzzing import is_error, kind_of, open_descriptors, resident_bytes
from rigs.hostile.honest_clients import RATES, Sample, run_honest_clients
from rigs.hostile.hostile_clients import COUNTS, be_hostile
from rigs.told import say, told
from support.cluster import cluster
from support.command_line import Running

MOST_SLOWER = 2
LEAST_MS = 10.0
MOST_GROWTH_BYTES = 128 * 1024 * 1024
MOST_DESCRIPTORS = 50  # that stay open after the hostile clients are gone
WARM_UP_SECONDS = 10.0
SETTLING_SECONDS = 40.0  # longer than the service waits for any client
LINE_SECONDS = 10.0
PRODUCTS = 3000

_spawning = get_context("spawn")


class Watch:
    """A run: samples of honest requests, and of the server's memory and descriptors."""

    def __init__(self, service: Running) -> None:
        self.pid = service.process.pid
        self.service = service
        self.queue: Any = _spawning.Queue()
        self.samples: list[Sample] = []
        self.memory: list[tuple[float, int, int]] = []
        self.busy: dict[str, float] = {}
        self.errors: list[str] = []

    def watch(self, name: str, seconds: float) -> tuple[float, float]:
        """Take samples for so long; return the moments between which it was."""
        start = told = time.monotonic()
        idle = idle_seconds()
        while (now := time.monotonic()) < start + seconds:
            self._sample(now)
            if now - told >= LINE_SECONDS:
                told = now
                self._tell(name, now - start)
        self.busy[name] = 1 - (idle_seconds() - idle) / ((now - start) * (os.cpu_count() or 1))
        return start, now

    def between(self, period: tuple[float, float]) -> list[Sample]:
        """Return the samples of requests that were due within a period."""
        return [sample for sample in self.samples if period[0] <= sample.due < period[1]]

    def memory_between(self, period: tuple[float, float]) -> list[int]:
        """Return the bytes that were resident within a period."""
        return [resident for moment, resident, _ in self.memory if period[0] <= moment < period[1]]

    def _sample(self, now: float) -> None:
        with suppress(Empty):
            self.samples += self.queue.get(timeout=1)
        if self.service.process.poll() is not None:
            raise RuntimeError(f"the service ended: {self.service.logs[-3:]}")
        self.memory.append((now, resident_bytes(self.pid), open_descriptors(self.pid)))
        logs, self.service.logs[:] = self.service.logs.copy(), []
        self.errors += [kind_of(line) for line in logs if is_error(line)]

    def _tell(self, name: str, elapsed: float) -> None:
        recent = [sample for sample in self.samples if sample.due > time.monotonic() - LINE_SECONDS - 1]
        _, resident, descriptors = self.memory[-1]
        faults = sum(1 for sample in recent if sample.fault)
        say(
            f"{name:>8} {elapsed:4.0f} s  p50 {_ms(recent, 0.5):6.1f} ms  p99 {_ms(recent, 0.99):6.1f} ms  "
            f"{faults} failed  {resident / 1e6:4.0f} MB  {descriptors} descriptors"
        )


def _ms(samples: Sequence[Sample], share: float) -> float:
    """Return the milliseconds within which that share of the requests got a response; failed ones never did."""
    if not samples:
        return math.nan
    taken = sorted(math.inf if sample.fault else sample.seconds * 1000 for sample in samples)
    return taken[min(len(taken) - 1, int(len(taken) * share))]


def idle_seconds() -> float:
    """Return the seconds for which processors of this machine were idle, all added up."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(target: Any, *arguments: Any) -> Iterator[SpawnProcess]:
    """Run a function in a process of its own while the block runs."""
    process = _spawning.Process(target=target, args=arguments, daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def watched(found: Watch, place: tuple[str, int], buyers: Sequence[Any], wanted: argparse.Namespace) -> list[str]:
    """Watch the honest clients alone, then beside the hostile ones, then alone again; return what is wrong."""
    *honest, hostile = buyers
    seconds = wanted.minutes * 60
    with running(run_honest_clients, *place, honest, found.queue) as clients:
        found.watch("warm-up", WARM_UP_SECONDS)
        calm = found.watch("calm", seconds / 3)
        with running(be_hostile, *place, hostile.key, wanted.seed) as process:
            rough = found.watch("hostile", seconds * 2 / 3)
            if not process.is_alive():
                return ["the hostile clients ended by themselves"]
        found.watch("after", SETTLING_SECONDS)
        if not clients.is_alive():
            return ["the honest clients ended by themselves"]
    return judged(found, calm, rough)


def judged(found: Watch, calm: tuple[float, float], rough: tuple[float, float]) -> list[str]:
    """Print the figures; return what is wrong."""
    before, beside = found.between(calm), found.between(rough)
    say(f"the machine was busy: {', '.join(f'{share:.0%} {name}' for name, share in found.busy.items())}")
    say(f"{'':>22} {'p50':>8} {'p99':>8}   beside hostile clients: {'p50':>8} {'p99':>8}  ratio of p99")
    wrong = []
    for kind in [*RATES, "all"]:
        first, second = ([s for s in part if kind in {s.kind, "all"}] for part in (before, beside))
        ratio = max(LEAST_MS, _ms(second, 0.99)) / max(LEAST_MS, _ms(first, 0.99))
        say(
            f"{kind:>22} {_ms(first, 0.5):5.1f} ms {_ms(first, 0.99):5.1f} ms {'':>24}"
            f"{_ms(second, 0.5):5.1f} ms {_ms(second, 0.99):5.1f} ms  {ratio:.2f}"
        )
        if kind == "all" and ratio > MOST_SLOWER:
            wrong.append(f"the p99 of honest requests is {ratio:.2f} times what it was")
    failed = [sample.fault for sample in [*before, *beside] if sample.fault]
    if failed:
        wrong.append(f"{len(failed)} honest requests of {len(before) + len(beside)} failed, the first: {failed[0]}")
    return [*wrong, *_used_up(found, calm), *_logged(found)]


def _used_up(found: Watch, calm: tuple[float, float]) -> list[str]:
    start, peak = max(found.memory_between(calm)), max(resident for _, resident, _ in found.memory)
    first, last = ([count for _, _, count in part] for part in (found.memory[:15], found.memory[-5:]))
    most = max(count for _, _, count in found.memory)
    end = found.memory[-1][1]
    say(f"memory: {start / 1e6:.0f} MB at most before, {peak / 1e6:.0f} MB beside, {end / 1e6:.0f} MB at the end")
    say(f"descriptors: {max(first)} before, {most} beside, {min(last)} at the end")
    wrong = []
    if peak - start > MOST_GROWTH_BYTES:
        wrong.append(f"memory grew by {(peak - start) / 1e6:.0f} MB")
    if min(last) - max(first) > MOST_DESCRIPTORS:
        wrong.append(f"{min(last) - max(first)} descriptors stay open")
    return wrong


def _logged(found: Watch) -> list[str]:
    kinds = {kind: found.errors.count(kind) for kind in found.errors}
    return [f"the log tells {count} times: {kind}" for kind, count in kinds.items()]


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make hostile", description="e.g. make hostile ARGS='--minutes 1'")
    parser.add_argument("--minutes", type=float, default=10, help="without the first ten seconds and the last forty")
    parser.add_argument("--seed", type=int, default=1 + secrets.randbelow(1_000_000), help="of the hostile clients")
    wanted = parser.parse_args(words)
    say(f"{wanted.minutes:g} minutes, seed {wanted.seed}; {sum(COUNTS.values())} hostile clients: {COUNTS}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(cluster(folder, f"hostile{os.getpid()}"))
        url = stack.enter_context(postgres.database())
        service, buyers = stack.enter_context(fuzzed_service(url, folder, products=PRODUCTS))
        parts = urlsplit(service.announced["base_url"])
        wrong = watched(Watch(service), (parts.hostname or "", parts.port or 0), buyers, wanted)
    return told(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
