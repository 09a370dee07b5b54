"""`make fuzz`, its second part: thousands of raw HTTP requests, most of them mutated, directly and through proxies.

Each way gets its share: directly, through HAProxy, and through nginx in its default configuration and with
connections that it keeps. Fails on everything that `rigs/fuzz/raw_fuzzing.py` counts as wrong. It ends by itself.
"""

import argparse
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from rigs.fuzz.fuzzed_service import fuzzed_service
from rigs.fuzz.raw_fuzzing import Fuzz, Way
from rigs.told import say
from support.cluster import cluster
from support.front_proxies import haproxy, missing_packages, nginx

WAYS = ("direct", "haproxy", "nginx", "nginx-kept")
CONVERSATIONS_OF_A_BATCH = 100


@contextmanager
def ways_to(base_url: str, names: Sequence[str]) -> Iterator[list[Way]]:
    """The ways to a service, with the proxies that they need."""
    with ExitStack() as stack:
        ways = []
        for name in names:
            if name == "direct":
                parts = urlsplit(base_url)
                ways.append(Way(name, parts.hostname or "", parts.port or 0))
                continue
            kept = name.endswith("-kept")
            proxy = stack.enter_context(haproxy(base_url) if name == "haproxy" else nginx(base_url, keep_alive=kept))
            ways.append(Way(name, proxy.host, proxy.port, proxy.log))
        yield ways


def fuzz(found: Fuzz, ways: Sequence[Way], wanted: argparse.Namespace) -> None:
    """Hold conversations until there were enough requests on every way, something is wrong, or time is up."""
    until, told = time.monotonic() + wanted.minutes * 60, time.monotonic()
    found.warm_up(ways[0])
    for place, way in enumerate(ways, start=1):
        number = 0
        while found.report.requests < wanted.requests * place / len(ways) and time.monotonic() < until:
            found.batch(way, wanted.seed, range(number, number + CONVERSATIONS_OF_A_BATCH))
            number += CONVERSATIONS_OF_A_BATCH
            if time.monotonic() - told > 5:
                told = time.monotonic()
                say(f"{found.report.requests:>7} of {wanted.requests} raw requests, now {way.name}")
            if found.report.faults and not wanted.keep_going:
                return


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make fuzz-raw", description="e.g. make fuzz-raw ARGS='--seed 7 --through nginx'"
    )
    parser.add_argument("--requests", type=int, default=20_000, help="stop after this many in all")
    parser.add_argument("--minutes", type=float, default=30, help="stop after so long in any case")
    parser.add_argument("--seed", type=int, default=1 + secrets.randbelow(1_000_000))
    parser.add_argument("--through", choices=WAYS, help="one way only")
    parser.add_argument("--conversation", type=int, help="only this one, of the way that is named")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at the first batch with a fault")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    wanted = arguments(words)
    missing = missing_packages()
    if missing:
        say(f"error: the Debian packages {', '.join(missing)} are needed")
        return 1
    say(f"{wanted.requests} raw requests at least, {wanted.minutes:g} minutes at most, seed {wanted.seed}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(cluster(folder, f"raw{os.getpid()}"))
        url = stack.enter_context(postgres.database())
        service, buyers = stack.enter_context(fuzzed_service(url, folder))
        names = [wanted.through] if wanted.through else WAYS
        found = Fuzz(service, buyers)
        with ways_to(service.announced["base_url"], names) as ways:
            if wanted.conversation is None:
                fuzz(found, ways, wanted)
            else:
                found.batch(ways[0], wanted.seed, [wanted.conversation])
        found.settle()
    say(found.report.summary())
    if found.report.faults:
        say(
            f"\nAgain: make fuzz-raw ARGS='--seed {wanted.seed}'; one that failed: --through WAY --conversation NUMBER,"
        )
        say("which are in its name, SEED.WAY.NUMBER")
    return 1 if found.report.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
