"""How long nothing was written around each fault, as a table."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median


@dataclass(frozen=True)
class Happened:
    """A fault, in monotonic seconds; `alone`: nothing else was broken until writes went on."""

    kind: str
    began: float
    ended: float
    alone: bool


def longest_silence(writes: Sequence[float], began: float, until: float) -> float:
    """The longest time without an acknowledged write that touches a span; `writes` are in order."""
    first, last = max(bisect_left(writes, began) - 1, 0), min(bisect_right(writes, until) + 1, len(writes))
    inside = writes[first:last]
    if not inside or inside[-1] < began:
        return until - began
    return max((later - earlier for earlier, later in pairwise(inside)), default=until - began)


def table(happened: Iterable[Happened], writes: Iterable[float]) -> str:
    """A row for each kind: how many, and the time without writes of those that came alone."""
    ordered = sorted(writes)
    counts: defaultdict[str, int] = defaultdict(int)
    silences: defaultdict[str, list[float]] = defaultdict(list)
    for fault in happened:
        counts[fault.kind] += 1
        if fault.alone:
            silences[fault.kind].append(longest_silence(ordered, fault.began, fault.ended))
    lines = [
        "| Fault | Times | Alone | Median without writes, s | Longest, s |",
        "|---|--:|--:|--:|--:|",
    ]
    for kind, count in counts.items():
        found = silences[kind]
        figures = f"{median(found):.1f} | {max(found):.1f}" if found else "- | -"
        lines.append(f"| {kind} | {count} | {len(found)} | {figures} |")
    return "\n".join(lines)
