"""The columns that a feed may have: those of the CSV of `GET /product`, and some of its own."""

from collections.abc import Sequence

from tradecounter.kit.errors import invalid
from tradecounter.products.snapshot.fragments import AVAILABILITY, COSTS, DESCRIPTIONS, HEAD, LINKS, MIDDLE, TAIL

PRICES = {"price": COSTS[0], "five_plus_price": COSTS[1], "ten_plus_price": COSTS[2]}  # with the cost of each
IMAGE = "image_url"
COLUMNS = (*HEAD, IMAGE, *AVAILABILITY, *PRICES, *COSTS, *MIDDLE, *TAIL, *DESCRIPTIONS, *LINKS)
ON_REQUEST = frozenset(DESCRIPTIONS + LINKS)

_MOST = 100
_LONGEST_HEADING = 100
_SEPARATOR = "="

ChosenColumns = list[tuple[str, str]]  # each with its heading


def read_columns(text: str) -> ChosenColumns:
    """Return the columns of a text with one on each line: `sku`, or with a heading, `sku = Article`.

    Raises DomainError (invalid).
    """
    chosen: ChosenColumns = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            name, _, heading = (part.strip() for part in line.partition(_SEPARATOR))
            if name not in COLUMNS:
                raise invalid("columns", f"line {number}: {name[:50]!r} is not one of {', '.join(COLUMNS)}")
            if len(heading) > _LONGEST_HEADING:
                raise invalid("columns", f"line {number}: the heading must have at most {_LONGEST_HEADING} characters")
            chosen.append((name, heading or name))
    headings = [heading for _, heading in chosen]
    twice = next((heading for heading in headings if headings.count(heading) > 1), None)
    if twice is not None:
        raise invalid("columns", f"two columns have the heading {twice!r}; give one another with `column = Heading`")
    if not 1 <= len(chosen) <= _MOST:
        raise invalid("columns", f"must have 1 to {_MOST} lines, each with a column")
    return chosen


def columns_text(columns: Sequence[tuple[str, str]]) -> str:
    """Return columns as the text that `read_columns` reads."""
    return "\n".join(name if name == heading else f"{name} {_SEPARATOR} {heading}" for name, heading in columns)
