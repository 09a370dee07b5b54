"""Products as bytes: encoded fragments joined with prices and stock (specification, section 2; CSV).

A page of 100 products takes about 0.1 ms. Its parts are put together as columns, so that the loops over rows run in C,
and the tables of texts are small enough to stay in the processor's caches.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tradecounter.kit.clock import local_text
from tradecounter.kit.columns.bytes_column import BytesColumn
from tradecounter.kit.csv_text import LINE_END, cell
from tradecounter.kit.json_text import to_json
from tradecounter.products.queries.records import ProductRecord
from tradecounter.products.snapshot.fragments import (
    AFTER_CSV,
    AFTER_JSON,
    AVAILABILITY,
    COSTS,
    DESCRIPTIONS,
    HEAD,
    LINKS,
    MIDDLE,
    TAIL,
    csv_cells,
)
from tradecounter.stock.rules import Delivery, status
from tradecounter.storefront.view import CustomerView

Rows = NDArray[np.int32]

_Stock = tuple[int, int, tuple[Delivery, ...]]
_Key = TypeVar("_Key")

_skus = msgspec.json.Decoder(list[str])
_BATCH = 300  # rows; more at once no longer fit the caches of the processor
_PARTS = 9  # of a row: what precedes its gap, the stock, three costs in two parts each, and what follows

EXTRA_FIELDS = {
    "description": "description",
    "description_html": "description_html",
    "short_description": "short_description",
    "related": "related_products",
    "similar": "similar_products",
}


def product_json(view: CustomerView, row: int, costs: Sequence[int], extras: Collection[str] = ()) -> bytes:
    """Return a row as a JSON object of the resource Product.

    `costs` are net unit costs in pence for 1, 5 and 10 units; `extras` are names of fields to add.
    """
    fragments = view.snapshot.fragments
    stock = _STOCK_JSON.one(view, row)
    amounts = [
        _POUNDS[pence // 100] + after[pence % 100] for pence, after in zip(costs, _AFTER_COSTS_JSON, strict=True)
    ]
    after = fragments.json.after(row)
    if extras:
        place = int(fragments.before_descriptions[row])
        [after] = _with_members(view, extras, [after], [place], lambda column: (column[row],))
    return b"".join((fragments.json.before(row), stock, *amounts, after[:-1]))  # without the comma


def render_json(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield a JSON array of the resource Product, in chunks; `extras` are names of fields to add."""
    fragments = view.snapshot.fragments
    if not len(rows):
        yield b"[]"
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        if extras:
            heads, tails = fragments.json.take(batch)
            places = fragments.before_descriptions[batch].tolist()
            tails = _with_members(view, extras, tails, places, partial(BytesColumn.take, rows=batch))
        else:
            heads, tails = fragments.json.take_joined(batch)
        if start == 0:
            heads[0] = b"[" + heads[0]
        if start + _BATCH >= len(rows):
            tails[-1] = tails[-1][:-1] + b"]"  # instead of the comma
        yield _joined(view, batch, heads, _STOCK_JSON, _AFTER_COSTS_JSON, tails)


def render_csv(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield the header line, then the rows as CSV lines, in chunks; `extras` are names of fields to add."""
    lines = view.snapshot.fragments.csv
    added = tuple(name for name in DESCRIPTIONS + LINKS if name in extras)
    yield (",".join((*HEAD, *AVAILABILITY, *COSTS, *MIDDLE, *TAIL, *added)) + LINE_END).encode()
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        if added:
            heads, tails = lines.take(batch)
            cells = csv_cells([_with_buyable_links(view, row) for row in batch.tolist()], added)
            tails = [
                b"%b,%b%b" % (after.removesuffix(AFTER_CSV), more, AFTER_CSV)
                for after, more in zip(tails, cells, strict=True)
            ]
        else:
            heads, tails = lines.take_joined(batch)
        yield _joined(view, batch, heads, _STOCK_CSV, _AFTER_COSTS_CSV, tails)


def _with_buyable_links(view: CustomerView, row: int) -> ProductRecord:
    product = view.product(row)
    return replace(product, **{name: view.buyable(getattr(product, name)) for name in LINKS})


def _buyable_links(view: CustomerView, member: bytes) -> bytes:
    """Return a member that has a list of SKUs without those that the customer cannot buy."""
    name, skus = member.split(b":", 1)
    return member if skus == b"[]" else b"%b:%b" % (name, to_json(view.buyable(_skus.decode(skus))))


def _with_members(
    view: CustomerView,
    extras: Collection[str],
    tails: Sequence[bytes],
    places: Sequence[int],
    part: Callable[[BytesColumn], Iterable[bytes]],
) -> list[bytes]:
    """Return what follows the costs of rows with the fields of `extras`.

    `places` are those of descriptions; `part` takes the rows of a column.
    """
    members = view.snapshot.fragments.members
    descriptions = [(repeat(b","), part(members[name])) for name in DESCRIPTIONS if name in extras]
    links = [
        (repeat(b","), map(partial(_buyable_links, view), part(members[name]))) for name in LINKS if name in extras
    ]
    return list(
        map(
            b"".join,
            zip(
                [after[:place] for after, place in zip(tails, places, strict=True)],
                *chain.from_iterable(descriptions),
                [after[place : -len(AFTER_JSON)] for after, place in zip(tails, places, strict=True)],
                *chain.from_iterable(links),
                repeat(AFTER_JSON),
                strict=False,
            ),
        )
    )


def _joined(
    view: CustomerView,
    rows: Rows,
    heads: list[bytes],
    stock: "_StockTexts",
    after_costs: Iterable[Sequence[bytes]],
    tails: list[bytes],
) -> bytes:
    """Return rows with their stock and costs between what precedes and what follows these."""
    pounds, pence = np.divmod(view.prices.costs(rows).T, 100)
    parts = [b""] * (_PARTS * len(rows))
    parts[0::_PARTS] = heads
    parts[1::_PARTS] = stock.of(view, rows)
    for place, column, of_column, texts in zip((2, 4, 6), pounds.tolist(), pence.tolist(), after_costs, strict=True):
        parts[place::_PARTS] = map(_POUNDS.__getitem__, column)
        parts[place + 1 :: _PARTS] = map(texts.__getitem__, of_column)
    parts[8::_PARTS] = tails
    return b"".join(parts)


class _Texts(dict[_Key, bytes]):
    """The text of what many rows have in common, made when it is needed first; MOST are kept, then none."""

    MOST = 10_000

    def __init__(self, text: Callable[[_Key], bytes]) -> None:
        self._text = text

    def __missing__(self, key: _Key) -> bytes:
        if len(self) == self.MOST:
            self.clear()
        made = self[key] = self._text(key)
        return made


class _StockTexts:
    """The texts of stock levels: by units for sale alone where no delivery is shown, as of most rows."""

    def __init__(self, text: Callable[[int, int, tuple[Delivery, ...]], bytes]) -> None:
        """Take a function of units for sale, the threshold of low stock, and the deliveries that are shown."""
        self._text = text
        self._with_deliveries = _Texts[_Stock](lambda stock: text(*stock))
        self._without: dict[int, _Texts[int]] = {}  # by the threshold, which is the same for all customers

    def one(self, view: CustomerView, row: int) -> bytes:
        """Return the text of a row."""
        if due := view.shown_deliveries.get(row):
            return self._with_deliveries[view.available(row), view.low_stock, due]
        return self._of_units(view.low_stock)[view.available(row)]

    def of(self, view: CustomerView, rows: Rows) -> Iterable[bytes]:
        """Return the texts of rows."""
        available, due = view.stock.available[rows].tolist(), view.shown_deliveries
        if not due:
            return map(self._of_units(view.low_stock).__getitem__, available)
        deliveries = map(due.get, rows.tolist(), repeat(()))
        return map(self._with_deliveries.__getitem__, zip(available, repeat(view.low_stock), deliveries, strict=False))

    def _of_units(self, low_stock: int) -> "_Texts[int]":
        if low_stock not in self._without:
            self._without[low_stock] = _Texts(lambda available: self._text(available, low_stock, ()))
        return self._without[low_stock]


def _stock_json(available: int, low_stock: int, due: tuple[Delivery, ...]) -> bytes:
    label = status(available, low_stock, delivery_shown=bool(due))
    text = b'{"available":%d,"status":"%b","incoming":%b},"single_unit_cost":'
    return text % (available, label.encode(), _incoming(due))


def _stock_csv(available: int, low_stock: int, due: tuple[Delivery, ...]) -> bytes:
    label = status(available, low_stock, delivery_shown=bool(due))
    return b",%d,%b,%b," % (available, label.encode(), cell(_incoming(due).decode()).encode())


def _incoming(deliveries: tuple[Delivery, ...]) -> bytes:
    return to_json([{"incoming": d.incoming, "expected_on": local_text(d.expected_on)} for d in deliveries])


def _after(*texts: bytes) -> list[list[bytes]]:
    """Return, for each text, the hundred endings of an amount that it follows."""
    return [[b".%02d%b" % (pence, text) for pence in range(100)] for text in texts]


_STOCK_JSON, _STOCK_CSV = _StockTexts(_stock_json), _StockTexts(_stock_csv)
_POUNDS = _Texts[int](b"%d".__mod__)
_AFTER_COSTS_JSON = _after(b',"five_plus_unit_cost":', b',"ten_plus_unit_cost":', b"")
_AFTER_COSTS_CSV = _after(b",", b",", b",")
