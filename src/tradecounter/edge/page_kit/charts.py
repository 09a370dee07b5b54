"""Bar charts as shapes in a box of 100 by 100 units, which the template draws as SVG, with their data as text.

Labels are text beside the drawing, so they keep their size on every screen.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeVar

from msgspec import Struct

Number = TypeVar("Number", int, Decimal)

_BOX = 100
_GAP = Decimal("0.25")  # of a bar's place
_MOST_NAMED = 5  # bars, each on a line of its own


class Bar(Struct, frozen=True):
    """A rectangle."""

    x: Decimal
    y: Decimal
    width: Decimal
    height: Decimal
    title: str


class Chart(Struct, frozen=True):
    """A chart with one bar for each label; `values` are its data as text, `series` says what they are.

    `shares` are the values in per cent of the highest, none below zero.
    """

    title: str
    series: str
    labels: Sequence[str]
    values: Sequence[str]
    top: str
    bars: Sequence[Bar]
    shares: Sequence[Decimal]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.labels

    @property
    def names_all(self) -> bool:
        """Whether each bar has a line, with its name and its value."""
        return len(self.labels) <= _MOST_NAMED


def bar_chart(
    title: str, data: Sequence[tuple[str, Number]], shown: Callable[[Number], str] = str, *, series: str
) -> Chart:
    """Return a chart; a value below zero has no bar."""
    highest = max((value for _, value in data), default=None)
    shares = [Decimal(value) * _BOX / highest if highest and value > 0 else Decimal(0) for _, value in data]
    place = Decimal(_BOX) / max(len(data), 1)
    bars = []
    for number, ((label, value), height) in enumerate(zip(data, shares, strict=True)):
        if not height:
            continue
        x, width = place * (number + _GAP / 2), place * (1 - _GAP)
        bars.append(Bar(_short(x), _short(_BOX - height), _short(width), _short(height), f"{label}: {shown(value)}"))
    top = "" if highest is None else shown(highest)
    labels, values = [label for label, _ in data], [shown(value) for _, value in data]
    return Chart(title, series, labels, values, top, bars, list(map(_short, shares)))


def _short(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"))
