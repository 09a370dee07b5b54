"""A feed's file, made of the CSV of `GET /product`, so that both show the same."""

import csv
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from io import StringIO

import msgspec

from tradecounter.feeds.columns import IMAGE, ON_REQUEST, PRICES
from tradecounter.feeds.queries import FeedRecord
from tradecounter.feeds.rules import Markup
from tradecounter.kit.csv_text import line
from tradecounter.kit.money import NOTHING
from tradecounter.products.queries.records import ImageRecord
from tradecounter.storefront.render import Rows, render_csv
from tradecounter.storefront.view import CustomerView

_Pick = Callable[[list[str]], str]  # returns a cell for the cells of a product

_images = msgspec.json.Decoder(list[ImageRecord])


def markup_of(feed: FeedRecord, vat_rate: Decimal) -> Markup:
    """Return how a feed's prices are made."""
    return Markup(feed.markup, vat_rate if feed.vat_included else NOTHING, feed.rounding)


def render_feed(view: CustomerView, feed: FeedRecord, rows: Rows, vat_rate: Decimal) -> Iterator[bytes]:
    """Yield the headings, then the rows as CSV lines, in chunks."""
    wanted = [(name, heading) for name, heading in feed.columns]
    chunks = render_csv(view, rows, {name for name, _ in wanted} & ON_REQUEST)
    places = {name: place for place, name in enumerate(next(_cells(next(chunks))))}
    priced = _pricing(markup_of(feed, vat_rate))
    picks = [_pick(name, places, priced) for name, _ in wanted]
    yield line(heading for _, heading in wanted).encode()
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
    found = _images.decode(images)
    primary = next((image for image in found if image["is_primary"]), found[0] if found else None)
    return "" if primary is None else primary["url"]
