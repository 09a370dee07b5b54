"""Tells on standard output, at once, what a rig does and what it found."""

import sys
from collections.abc import Sequence


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def told(faults: Sequence[str]) -> int:
    """Print what was wrong; the status to end with."""
    for fault in faults:
        say(f"FAILED {fault[:1000]}")
    say(f"{len(faults)} faults")
    return 1 if faults else 0
