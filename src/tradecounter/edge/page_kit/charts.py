"""Charts as shapes in a box of 100 by 100 units, which the template draws as SVG, with their data as a table.

Labels are text beside the drawing, so that they keep their size on every screen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Number = int | Decimal

_BOX = 100
_GAP = Decimal("0.25")  # of a bar's place
_MOST_NAMED = 5  # bars, on a phone


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle; `series` is the number of its colour."""

    x: Decimal
    y: Decimal
    width: Decimal
    height: Decimal
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. `labels` and `rows` are its data: for each label, the value of each series as text."""

    kind: Literal["bar", "line"]
    title: str
    series: Sequence[str]
    labels: Sequence[str]
    rows: Sequence[Sequence[str]]
    top: str
    shapes: Sequence[Shape] = ()
    lines: Sequence[str] = ()  # the points of each series

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.labels

    @property
    def names_all(self) -> bool:
        """Whether there is room to name each bar, with its value."""
        return self.kind == "bar" and len(self.series) == 1 and len(self.labels) <= _MOST_NAMED


def bar_chart(
    title: str, data: Sequence[tuple[str, Number]], shown: Callable[[Number], str] = str, *, series: str = "Value"
) -> Chart:
    """Return a chart with one bar for each label."""
    return stacked_chart(title, (series,), [(label, (value,)) for label, value in data], shown)


def stacked_chart(
    title: str,
    series: Sequence[str],
    data: Sequence[tuple[str, Sequence[Number]]],
    shown: Callable[[Number], str] = str,
) -> Chart:
    """Return a chart with one bar for each label, which consists of one part for each series."""
    highest = max((sum((Decimal(v) for v in values), Decimal(0)) for _, values in data), default=Decimal(0))
    place = Decimal(_BOX) / max(len(data), 1)
    shapes = []
    for number, (label, values) in enumerate(data):
        top = Decimal(_BOX)
        for which, value in enumerate(values):
            height = _share(Decimal(value), highest)
            if not height:
                continue
            top -= height
            title_of = f"{label}: {shown(value)}" if len(series) == 1 else f"{label}, {series[which]}: {shown(value)}"
            x = place * (number + _GAP / 2)
            shapes.append(Shape(_short(x), _short(top), _short(place * (1 - _GAP)), _short(height), which, title_of))
    return Chart("bar", title, series, *_table(data, shown), shown(highest) if data else "", shapes=shapes)


def line_chart(
    title: str,
    series: Sequence[str],
    data: Sequence[tuple[str, Sequence[Number]]],
    shown: Callable[[Number], str] = str,
) -> Chart:
    """Return a chart with one line for each series."""
    highest = max((Decimal(value) for _, values in data for value in values), default=Decimal(0))
    step = Decimal(_BOX) / max(len(data) - 1, 1)
    lines = [
        " ".join(
            f"{_short(step * number)},{_short(_BOX - _share(Decimal(values[which]), highest))}"
            for number, (_, values) in enumerate(data)
        )
        for which in range(len(series))
    ]
    return Chart("line", title, series, *_table(data, shown), shown(highest) if data else "", lines=lines)


def _table(
    data: Sequence[tuple[str, Sequence[Number]]], shown: Callable[[Number], str]
) -> tuple[list[str], list[list[str]]]:
    return [label for label, _ in data], [[shown(value) for value in values] for _, values in data]


def _share(value: Decimal, highest: Decimal) -> Decimal:
    return max(value, Decimal(0)) * _BOX / highest if highest > 0 else Decimal(0)


def _short(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"))
