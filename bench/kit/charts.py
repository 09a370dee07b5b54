"""The charts, as SVG: bars against their targets, readable on light and on dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from bench.kit.figures import Row, shown

CHARTS = Path(__file__).parents[1] / "charts"

_WIDTH = 860
_LABELS = 390
_BARS = _WIDTH - _LABELS - 90
_LONGEST_LABEL = 52  # characters
_LINE = 26
_TOP = 56
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 15px; font-weight: 600 } .faint { fill: #57606a; font-size: 12px } .page { fill: #ffffff }
  .good { fill: #2f7fb8 } .bad { fill: #c4612f } .track { fill: #eaeef2 } .mark { stroke: #24292f; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .faint { fill: #9aa5b1 } .page { fill: #0d1117 }
    .good { fill: #58a6ff } .bad { fill: #f0883e } .track { fill: #2d333b } .mark { stroke: #e6edf3 }
  }
"""


def write_charts(rows: Sequence[Row]) -> None:
    """Write all charts that have rows."""
    CHARTS.mkdir(exist_ok=True)
    compared = [row for row in rows if row.goal is not None and row.goal < 1]
    bounded = [row for row in rows if row.bound is not None]
    grown = [row for row in rows if row.points]
    for name, drawing in (("ratios", ratios(compared)), ("bounds", bounds(bounded)), ("growth", growth(grown))):
        (CHARTS / f"{name}.svg").write_text(drawing, encoding="utf-8")


def ratios(rows: Sequence[Row]) -> str:
    """Draw how near we are to the limit, with a mark at each target."""
    most = max([1.0, *(row.ratio for row in rows)])
    bars = [
        _bar(place, _name(row), row.ratio / most, shown(row.ratio), good=bool(row.reached), mark=(row.goal or 0) / most)
        for place, row in enumerate(rows)
    ]
    under = "nginx with the same bytes, or pgbench with the same SQL; the mark is the target"
    return _drawing("Rate as a share of nginx’s or pgbench’s", f"{under}; orange: missed", bars)


def bounds(rows: Sequence[Row]) -> str:
    """Draw how much of what is allowed is used; the mark is all of it."""
    bars = []
    for place, row in enumerate(rows):
        share = row.ratio / (row.bound or 1)
        bars.append(_bar(place, _name(row), min(share / 2, 1), f"{share:.0%}", good=bool(row.reached), mark=0.5))
    return _drawing(
        "What is used of what is allowed", "The mark is all of it; bars end at twice that; orange: missed", bars
    )


def growth(rows: Sequence[Row]) -> str:
    """Draw how the time of a page grows with the catalogue."""
    points = [(row, size, time) for row in rows for size, time in row.points.items()]
    most = max([time for _, _, time in points], default=1)
    bars = [
        _bar(place, f"{row.what.partition(',')[0]}, {size}", time / most, f"{shown(time)} ms", good=bool(row.reached))
        for place, (row, size, time) in enumerate(points)
    ]
    under = "Processor time of the server for one request, of those that repeat and of those never asked before"
    return _drawing("What a page costs by the size of the catalogue", under, bars)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its label, its length as a share of the longest possible, and its figure."""

    label: str
    share: float
    figure: str
    good: bool = True


def bars(title: str, under: str, all_bars: Sequence[Bar], *, mark: float | None = None) -> str:
    """Draw bars, with a mark at the same share of each."""
    drawn = [
        _bar(place, bar.label, min(bar.share, 1), bar.figure, good=bar.good, mark=mark)
        for place, bar in enumerate(all_bars)
    ]
    return _drawing(title, under, drawn)


def _name(row: Row) -> str:
    text = f"{row.question}: {row.what}".replace("`", "")
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _bar(place: int, label: str, share: float, figure: str, *, good: bool, mark: float | None = None) -> str:
    top = _TOP + place * _LINE
    width = max(2, round(_BARS * share))
    line = [
        f'<text x="{_LABELS - 10}" y="{top + 15}" text-anchor="end" class="faint">{escape(label)}</text>',
        f'<rect x="{_LABELS}" y="{top + 2}" width="{_BARS}" height="17" class="track"/>',
        f'<rect x="{_LABELS}" y="{top + 2}" width="{width}" height="17" class="{"good" if good else "bad"}"/>',
        f'<text x="{_LABELS + _BARS + 8}" y="{top + 15}">{escape(figure)}</text>',
    ]
    if mark is not None:
        x = round(_LABELS + _BARS * mark)
        line.append(f'<line x1="{x}" x2="{x}" y1="{top - 1}" y2="{top + 22}" class="mark"/>')
    return "\n".join(line)


def _drawing(title: str, under: str, bars: Sequence[str]) -> str:
    height = _TOP + len(bars) * _LINE + 12
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            # Of its own, since a page may be dark where the system is light.
            f'<rect width="{_WIDTH}" height="{height}" rx="6" class="page"/>',
            f'<text x="10" y="22" class="title">{escape(title)}</text>',
            f'<text x="10" y="41" class="faint">{escape(under)}</text>',
            *bars,
            "</svg>\n",
        ]
    )
