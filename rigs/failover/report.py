"""The report: what happened, and how long nothing was written around each fault."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from rigs.failover.load import TimedSender

GOAL_SECONDS = 10
# The goal is for a killed primary; moving it on purpose should not take longer.
GOAL_KINDS = frozenset({"switch-over", "primary: PostgreSQL killed", "primary: machine killed"})


@dataclass(frozen=True)
class Happened:
    """A fault, in monotonic seconds; `alone`: nothing else was broken until writes went on."""

    kind: str
    began: float
    ended: float
    alone: bool


def longest_silence(writes: Sequence[float], began: float, until: float) -> float:
    """The longest time without an acknowledged write from `began` to `until`; `writes` are in order."""
    inside = writes[bisect_left(writes, began) : bisect_right(writes, until)]
    return max(later - earlier for earlier, later in pairwise([began, *inside, until]))


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
        "| Fault | Times | Alone | Median without writes, s | Longest, s | Goal, s |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for kind, count in counts.items():
        found = silences[kind]
        figures = f"{median(found):.1f} | {max(found):.1f}" if found else "- | -"
        lines.append(f"| {kind} | {count} | {len(found)} | {figures} | {_judged(kind, found)} |")
    return "\n".join(lines)


def _judged(kind: str, silences: Sequence[float]) -> str:
    """The goal of a kind of fault, and whether all of them met it."""
    if kind not in GOAL_KINDS or not silences:
        return "-"
    return f"{GOAL_SECONDS}, {'met' if max(silences) <= GOAL_SECONDS else 'missed'}"


@dataclass(frozen=True)
class Outcome:
    """What a run did, and what its clients and its operator noted."""

    seed: int
    happened: Sequence[Happened]
    seconds: float
    operations: int
    rejected: Mapping[str, int]  # rivals, by status
    cloned: Sequence[tuple[float, str, str]]  # when, which machine, in what state


def summary(outcome: Outcome, sender: TimedSender, violations: Sequence[str]) -> str:
    """Return the text of `report.md`."""
    kinds = len({each.kind for each in outcome.happened})
    cloned = ", ".join(f"{name} ({state})" for _, name, state in outcome.cloned) or "none"
    return f"""# Report of `make failover`

{datetime.now(UTC):%Y-%m-%d}, seed {outcome.seed}: {len(outcome.happened)} faults of {kinds} kinds in
{outcome.seconds / 60:.1f} minutes, {outcome.operations} acknowledged operations, {len(violations)} violations.

- {sender.lost} requests got no response; {sender.statuses["503"]} got 503, {sender.in_doubt} of them because a commit
  was not confirmed; {sender.statuses["502"] + sender.statuses["504"]} got 502 or 504 from HAProxy.
- Rivals for little credit and few units were rejected {sum(outcome.rejected.values())} times.
- Replicas that the operator had cloned again (`patronictl reinit`), since they did not start: {cloned}.
- Violations: {", ".join(violations) or "none"}.

{table(outcome.happened, sender.writes)}

"Alone" counts faults that began when everything had recovered from the last one; the times are theirs. The time
without writes is the longest one in which no change was acknowledged, from the fault until the cluster was whole
again. A machine that is lost, cut off or paused keeps the primary's lease until it ends: 20 s, the
shortest that Patroni accepts. It goes on earlier if the machine is back earlier.
"""
