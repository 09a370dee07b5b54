"""A part of `make fuzz`: properties of the parsers that meet strangers, with more examples than the tests have.

These are the tests with the mark `fuzzed`, in the folders of what they test.
"""

import argparse
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence

from support.fuzzed import VARIABLE

REQUESTS_PER_TIME = 1000  # of the other parts' 20,000


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz-parsers", description="e.g. ARGS='--seed 7 -k token'")
    parser.add_argument("--requests", type=int, default=20_000, help="a thousand count as `make test`'s examples")
    parser.add_argument("--seed", type=int, default=1 + secrets.randbelow(1_000_000))
    parser.add_argument("-k", default="", metavar="PART", help="only properties with this in their names")
    wanted, _ = parser.parse_known_args(words)
    times = max(2, wanted.requests // REQUESTS_PER_TIME)
    sys.stdout.write(f"properties of parsers, {times} times the examples of `make test`, seed {wanted.seed}\n")
    sys.stdout.flush()
    chosen = ["-m", "fuzzed", "-k", wanted.k, f"--hypothesis-seed={wanted.seed}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *chosen], env={**os.environ, VARIABLE: str(times)}, check=False
    )
    if done.returncode:
        sys.stdout.write(f"\nAgain: make fuzz-parsers ARGS='--seed {wanted.seed} --requests {wanted.requests}'\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
