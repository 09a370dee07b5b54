"""The last part of `make fuzz`: histories of the reseller and its customers, one after another and all at once.

The first part fails on a response, unit, amount, event or audit entry that a naive twin of the books does not expect,
and prints the shortest history that leads to it, and how often each step was taken. In the second part, clients take
random steps at the same time.
"""

import argparse
import os
import secrets
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.backoffice import backoffice_of
from support.cluster import cluster
from support.reseller_crowd import assert_crowd_agrees
from support.reseller_history import history_of
from support.reseller_twin import SELLER
from support.service import running_service
from support.shop import stock_shop


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz-history", description="e.g. ARGS='--histories 50 --seed 7'")
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--steps", type=int, default=60, help="of a history, at most")
    parser.add_argument("--crowds", type=int, default=30, help="of clients that work at the same time")
    parser.add_argument("--seed", type=int, default=1 + secrets.randbelow(1_000_000))
    wanted, _ = parser.parse_known_args(arguments)
    sys.stdout.write(f"{wanted.histories} histories of up to {wanted.steps} steps, seed {wanted.seed}\n")
    sys.stdout.flush()
    warnings.simplefilter("ignore")
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder), f"history{os.getpid()}") as postgres,
        postgres.database() as url,
        running_service(url) as service,
        backoffice_of(service, **SELLER) as office,
    ):
        stock_shop(service)
        machine = history_of(office)
        try:
            run_state_machine_as_test(
                seed(wanted.seed)(machine),
                settings=settings(
                    max_examples=wanted.histories,
                    stateful_step_count=wanted.steps,
                    deadline=None,
                    database=None,
                    phases=(Phase.generate, Phase.shrink),
                ),
            )
        finally:
            sys.stdout.write(machine.summary())
        for number in range(wanted.seed, wanted.seed + wanted.crowds):
            sys.stdout.write(f"crowd {number}\n")
            sys.stdout.flush()
            with postgres.database() as own, running_service(own) as crowded:
                stock_shop(crowded)
                assert_crowd_agrees(crowded, number)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
