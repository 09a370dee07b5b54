"""Figures: a row of the table is a question's answer, its limit, the ratio and whether the target is reached."""

from dataclasses import dataclass

_THOUSAND = 1000
_HUNDRED = 100
_TEN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the results. `ratio` is shown first; `target` says what it is held to, `reached` is None if nothing.

    `ours`, `limit`, `p50` and `p99` are shown as they are; `note` explains below the table.
    """

    question: str
    what: str
    ratio: float | None
    target: str = "reported"
    reached: bool | None = None
    ours: str = ""
    limit: str = ""
    p50: str = ""
    p99: str = ""
    note: str = ""
    goal: float | None = None  # the ratio aimed at, where charts can show it


def at_least(ratio: float, goal: float) -> bool:
    """Tell whether a ratio, as shown, reaches a goal."""
    return round(ratio, 2) >= goal


def at_most(ratio: float, goal: float) -> bool:
    """Tell whether a ratio, as shown, keeps to a bound."""
    return round(ratio, 2) <= goal


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
