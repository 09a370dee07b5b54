"""Figures: a row of the table has our figure, its limit, the ratio and whether the target is reached."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_HUNDRED = 100
_TEN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the results, its target, and what charts and remarks need as well.

    The ratio must be at least `goal`, or at most `bound`, if either is given; `sound` is false when requests failed.
    `ours`, `limit`, `p50` and `p99` are shown as they are. `figure` is what is compared with `target`, if that is
    not the ratio.
    """

    question: str
    what: str
    ratio: float
    target: str = "reported"
    goal: float | None = None
    bound: float | None = None
    sound: bool = True
    ours: str = ""
    limit: str = ""
    p50: str = ""
    p99: str = ""
    note: str = ""
    figure: str = ""
    points: Mapping[str, float] = field(default_factory=dict)

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached, judged by the rounded ratio; None without a target."""
        if self.goal is None and self.bound is None:
            return None
        ratio = round(self.ratio, 2)
        return self.sound and (self.goal is None or ratio >= self.goal) and (self.bound is None or ratio <= self.bound)


def shown(number: float) -> str:
    """Return a number with three digits that count."""
    if number >= _HUNDRED:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= _TEN else f"{number:.2f}"


def per_second(rate: float) -> str:
    """Return a rate of requests."""
    return f"{shown(rate)}/s"


def megabytes(count: float) -> str:
    """Return bytes as MB."""
    return f"{shown(count / 1e6)} MB"


def milliseconds(count: float) -> str:
    """Return milliseconds."""
    return f"{shown(count)} ms"


def seconds(count: float) -> str:
    """Return seconds."""
    return f"{shown(count)} s"
