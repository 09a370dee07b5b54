"""`make fuzz`: thousands of generated requests, with links followed, against a service with a filled shop.

The first round also tries every constraint of every schema. Fails on any 5xx, any undocumented status, and any response
that does not fit its schema. It ends by itself.
"""

import argparse
import os
import secrets
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rigs.told import say
from support.cluster import cluster
from support.fuzzing import BEHIND_A_PROXY, Report, Shop, fill, run_phases
from support.service import Service, running_service

EXAMPLES_PER_ROUND = 40
SECONDS_PER_LINE = 5


@dataclass(frozen=True)
class Wanted:
    """The size of a run: requests at least, seconds at most, and the first round's seed."""

    requests: int
    minutes: float
    seed: int


def wanted(arguments: Sequence[str]) -> Wanted:
    parser = argparse.ArgumentParser(prog="make fuzz", description="e.g. make fuzz ARGS='--requests 5000 --seed 7'")
    parser.add_argument("--requests", type=int, default=20_000, help="stop after this many")
    parser.add_argument("--minutes", type=float, default=30, help="stop after so long in any case")
    parser.add_argument("--seed", type=int, default=None, help="of the first round; each further round adds one")
    found = parser.parse_args(arguments)
    seed = 1 + secrets.randbelow(1_000_000) if found.seed is None else found.seed
    return Wanted(found.requests, found.minutes, seed)


def fuzz(service: Service, shop: Shop, limits: Wanted) -> Report:
    """Run rounds, each with the next seed, until there were enough requests, something failed, or time is up."""
    report = Report()
    started, told, seed = time.monotonic(), 0.0, limits.seed

    def is_over() -> bool:
        nonlocal told
        elapsed = time.monotonic() - started
        if elapsed - told > SECONDS_PER_LINE:
            told = elapsed
            say(f"{report.requests:>7} of {limits.requests} requests, {elapsed:.0f} s, seed {report.seed}")
        return elapsed > limits.minutes * 60

    while report.requests < limits.requests and not report.failures:
        report.seed = seed
        phases = ("coverage", "fuzzing", "stateful") if seed == limits.seed else ("fuzzing", "stateful")
        run_phases(report, service, shop, phases, examples=EXAMPLES_PER_ROUND, seed=seed, is_over=is_over)
        if is_over():
            say(f"{limits.minutes:g} minutes are over")
            break
        seed += 1
    return report


def main(arguments: Sequence[str]) -> int:
    limits = wanted(arguments)
    say(f"{limits.requests} requests at least, {limits.minutes:g} minutes at most, seed {limits.seed}")
    warnings.simplefilter("ignore")
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder), f"fuzz{os.getpid()}") as postgres,
        postgres.database() as url,
        running_service(url, **BEHIND_A_PROXY) as service,
    ):
        report = fuzz(service, fill(service), limits)
    say(report.summary())
    if report.failures:
        say(f"\nAgain: make fuzz ARGS='--seed {report.seed}'")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
