"""Charts of bars as shapes in a box of 100 by 100 units, which the template draws as SVG, with their data as a table.

Labels are text beside the drawing, so that they keep their size on every screen.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

from msgspec import Struct

Number = int | Decimal

_BOX = 100
_GAP = Decimal("0.25")  # of a bar's place
_MOST_NAMED = 5  # bars, on a phone


class Bar(Struct, frozen=True):
    """A rectangle."""

    x: Decimal
    y: Decimal
    width: Decimal
    height: Decimal
    title: str


class Chart(Struct, frozen=True):
    """A chart with one bar for each label; `values` are its data as text, `series` says what they are.

    `names` are the values as they stand at the bars.
    """

    title: str
    series: str
    labels: Sequence[str]
    values: Sequence[str]
    names: Sequence[str]
    top: str
    bars: Sequence[Bar]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.labels

    @property
    def names_all(self) -> bool:
        """Whether there is room to name each bar, with its value."""
        return len(self.labels) <= _MOST_NAMED


def bar_chart(
    title: str,
    data: Sequence[tuple[str, Number]],
    shown: Callable[[Number], str] = str,
    *,
    series: str = "Value",
    named: Callable[[Number], str] | None = None,
) -> Chart:
    """Return a chart; a value below zero has no bar. `named` makes the shorter text at the bars."""
    highest = max((Decimal(value) for _, value in data), default=Decimal(0))
    place = Decimal(_BOX) / max(len(data), 1)
    bars = []
    for number, (label, value) in enumerate(data):
        if value <= 0:
            continue
        height = Decimal(value) * _BOX / highest
        x, width = place * (number + _GAP / 2), place * (1 - _GAP)
        bars.append(Bar(_short(x), _short(_BOX - height), _short(width), _short(height), f"{label}: {shown(value)}"))
    top = shown(highest) if data else ""
    values, names = ([text(value) for _, value in data] for text in (shown, named or shown))
    return Chart(title, series, [label for label, _ in data], values, names, top, bars)


def _short(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"))
