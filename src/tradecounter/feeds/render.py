"""The columns that a feed may have, and its file, made of the CSV of `GET /product`."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import StringIO

import msgspec

from tradecounter.feeds.queries import FeedRecord
from tradecounter.feeds.rules import Markup
from tradecounter.kit.csv_text import line
from tradecounter.kit.errors import invalid
from tradecounter.kit.money import NOTHING
from tradecounter.products.queries.records import ImageRecord
from tradecounter.products.snapshot.fragments import AVAILABILITY, COSTS, DESCRIPTIONS, HEAD, LINKS, MIDDLE, TAIL
from tradecounter.storefront.render import Rows, render_csv
from tradecounter.storefront.view import CustomerView

PRICES = {"price": COSTS[0], "five_plus_price": COSTS[1], "ten_plus_price": COSTS[2]}  # with the cost of each
IMAGE = "image_url"
COLUMNS = (*HEAD, IMAGE, *AVAILABILITY, *PRICES, *COSTS, *MIDDLE, *TAIL, *DESCRIPTIONS, *LINKS)
COLUMNS_ON_REQUEST = frozenset(DESCRIPTIONS + LINKS)

_MOST_COLUMNS = 100
_LONGEST_HEADING = 100
_SEPARATOR = "="

ChosenColumns = list[tuple[str, str]]  # each with its heading


def read_columns(text: str) -> ChosenColumns:
    """Return the columns of a text with one on each line: `sku`, or with a heading, `sku = Article`.

    Raises DomainError (invalid).
    """
    chosen: ChosenColumns = []
    for number, given in enumerate(text.splitlines(), start=1):
        if given.strip():
            name, _, heading = (part.strip() for part in given.partition(_SEPARATOR))
            if name not in COLUMNS:
                raise invalid("columns", f"line {number}: {name[:50]!r} is not one of {', '.join(COLUMNS)}")
            if len(heading) > _LONGEST_HEADING:
                raise invalid("columns", f"line {number}: the heading must have at most {_LONGEST_HEADING} characters")
            chosen.append((name, heading or name))
    headings = [heading for _, heading in chosen]
    twice = next((heading for heading in headings if headings.count(heading) > 1), None)
    if twice is not None:
        raise invalid("columns", f"two columns have the heading {twice!r}; give one another with `column = Heading`")
    if not 1 <= len(chosen) <= _MOST_COLUMNS:
        raise invalid("columns", f"must have 1 to {_MOST_COLUMNS} lines, each with a column")
    return chosen


def columns_text(columns: Sequence[Sequence[str]]) -> str:
    """Return columns as the text that `read_columns` reads."""
    return "\n".join(name if name == heading else f"{name} {_SEPARATOR} {heading}" for name, heading in columns)


_Pick = Callable[[list[str]], str]  # returns a cell for the cells of a product

_images = msgspec.json.Decoder(list[ImageRecord])


def markup_of(feed: FeedRecord, vat_rate: Decimal) -> Markup:
    """Return how a feed's prices are made."""
    return Markup(feed.markup, vat_rate if feed.vat_included else NOTHING, feed.rounding)


def render_feed(view: CustomerView, feed: FeedRecord, rows: Rows, vat_rate: Decimal) -> Iterator[bytes]:
    """Yield the headings, then the rows as CSV lines, in chunks."""
    chunks = render_csv(view, rows, {name for name, _ in feed.columns} & COLUMNS_ON_REQUEST)
    places = {name: place for place, name in enumerate(next(_cells(next(chunks))))}
    priced = _pricing(markup_of(feed, vat_rate))
    picks = [_pick(name, places, priced) for name, _ in feed.columns]
    yield line(heading for _, heading in feed.columns).encode()
    for chunk in chunks:
        yield "".join([line([pick(cells) for pick in picks]) for cells in _cells(chunk)]).encode()


def _cells(chunk: bytes) -> Iterator[list[str]]:
    return csv.reader(StringIO(chunk.decode(), newline=""))


def _pick(name: str, places: Mapping[str, int], priced: Callable[[str], str]) -> _Pick:
    if name in PRICES:
        cost = places[PRICES[name]]
        return lambda cells: priced(cells[cost])
    if name == IMAGE:
        images = places["images"]
        return lambda cells: _primary(cells[images])
    place = places[name]
    return lambda cells: cells[place]


def _pricing(markup: Markup) -> Callable[[str], str]:
    """Return the function from the text of a cost to that of its price. Few costs of a file differ."""
    known: dict[str, str] = {}

    def price(cost: str) -> str:
        found = known.get(cost)
        if found is None:
            found = known[cost] = str(markup.price(Decimal(cost)))
        return found

    return price


def _primary(images: str) -> str:
    """Return the address of the primary image, else of the first; empty without images."""
    decoded = _images.decode(images)
    primary = next((image for image in decoded if image["is_primary"]), decoded[0] if decoded else None)
    return "" if primary is None else primary["url"]
