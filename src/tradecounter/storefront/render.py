"""Products as bytes: encoded fragments joined with prices and stock (specification, section 2; CSV).

A page of 100 products takes about 0.1 ms. Its parts are put together as columns, so that the loops over rows run in C,
and the tables of texts are small enough to stay in the processor's caches.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tradecounter.kit.csv_text import LINE_END, cell
from tradecounter.kit.json_text import to_json
from tradecounter.kit.local_time import local_text
from tradecounter.products.columns.bytes_column import BytesColumn
from tradecounter.products.snapshot.fragments import (
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

_Column = Iterable[bytes]  # a part of each row
_Amounts = tuple[Sequence[int], Sequence[int]]  # a column of pounds and one of pence
_Stock = tuple[int, int, tuple[Delivery, ...]]
_Key = TypeVar("_Key")

_BATCH = 300  # rows; more at once no longer fit the caches of the processor

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
    stock = (view.available(row), view.low_stock, view.shown_deliveries.get(row, ()))
    amounts = [([pence // 100], [pence % 100]) for pence in costs]
    return _joined(_json_columns(view, np.array([row]), [stock], amounts, extras, lambda column: (column[row],)))


def render_json(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield a JSON array of the resource Product, in chunks; `extras` are names of fields to add."""
    if not len(rows):
        yield b"[]"
    before = chain((b"[",), repeat(b","))
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        of_batch = partial(BytesColumn.take, rows=batch)
        columns = _json_columns(view, batch, _stock(view, batch), _costs(view, batch), extras, of_batch)
        yield _joined((before, *columns), b"]" if start + _BATCH >= len(rows) else b"")


def render_csv(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield the header line, then the rows as CSV lines, in chunks; `extras` are names of fields to add."""
    added = tuple(name for name in DESCRIPTIONS + LINKS if name in extras)
    yield (",".join((*HEAD, *AVAILABILITY, *COSTS, *MIDDLE, *TAIL, *added)) + LINE_END).encode()
    for start in range(0, len(rows), _BATCH):
        yield _joined(_csv_columns(view, rows[start : start + _BATCH], added))


def _joined(columns: Iterable[_Column], end: bytes = b"") -> bytes:
    """Join columns row by row, as far as the shortest reaches."""
    return b"".join(chain(chain.from_iterable(zip(*columns, strict=False)), (end,)))


def _json_columns(
    view: CustomerView,
    rows: NDArray[np.signedinteger],
    stock: Iterable[_Stock],
    costs: Iterable[_Amounts],
    extras: Collection[str],
    part: Callable[[BytesColumn], _Column],
) -> Iterator[_Column]:
    """Yield the parts of rows' objects; `part` takes those of a column of the snapshot."""
    fragments = view.snapshot.fragments
    added = [[name for name in names if name in extras] for names in (DESCRIPTIONS, LINKS)]
    descriptions, links = ([(repeat(b","), part(fragments.members[name])) for name in names] for names in added)
    yield part(fragments.json_head)
    yield map(_STOCK_JSON.__getitem__, stock)
    yield from _amounts(costs, _AFTER_COSTS_JSON)
    rest = part(fragments.json_rest)
    if added[0]:
        places = fragments.before_descriptions[rows].tolist()
        rest = list(rest)
        yield [text[:place] for text, place in zip(rest, places, strict=True)]
        yield from chain.from_iterable(descriptions)
        yield [text[place:] for text, place in zip(rest, places, strict=True)]
    else:
        yield rest
    yield from chain.from_iterable(links)
    yield repeat(b"}")


def _csv_columns(view: CustomerView, rows: Rows, added: tuple[str, ...]) -> Iterator[_Column]:
    """Yield the parts of the rows' lines."""
    fragments = view.snapshot.fragments
    yield fragments.csv_head.take(rows)
    yield map(_STOCK_CSV.__getitem__, _stock(view, rows))
    yield from _amounts(_costs(view, rows), _AFTER_COSTS_CSV)
    yield fragments.csv_tail.take(rows)
    if added:
        yield repeat(b",")
        yield csv_cells([view.product(row) for row in rows.tolist()], added)
    yield repeat(LINE_END.encode())


def _stock(view: CustomerView, rows: Rows) -> Iterable[_Stock]:
    """Return each row's units for sale, the threshold of low stock, and the deliveries that are shown."""
    due = view.shown_deliveries
    deliveries = map(due.get, rows.tolist(), repeat(())) if due else repeat(())
    return zip(view.stock.available[rows].tolist(), repeat(view.low_stock), deliveries, strict=False)


def _costs(view: CustomerView, rows: Rows) -> Iterable[_Amounts]:
    """Return the rows' costs for 1, 5 and 10 units."""
    pounds, pence = np.divmod(view.prices.costs(rows).T, 100)
    return zip(pounds.tolist(), pence.tolist(), strict=True)


def _amounts(costs: Iterable[_Amounts], after: Iterable[Sequence[bytes]]) -> Iterator[_Column]:
    """Yield the texts of pounds, and of pence with what follows them."""
    for (pounds, pence), pence_and_after in zip(costs, after, strict=True):
        yield map(_POUNDS.__getitem__, pounds)
        yield map(pence_and_after.__getitem__, pence)


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


def _stock_json(stock: _Stock) -> bytes:
    available, low_stock, due = stock
    label = status(available, low_stock, delivery_shown=bool(due))
    text = b'{"available":%d,"status":"%b","incoming":%b},"single_unit_cost":'
    return text % (available, label.encode(), _incoming(due))


def _stock_csv(stock: _Stock) -> bytes:
    available, low_stock, due = stock
    label = status(available, low_stock, delivery_shown=bool(due))
    return b",%d,%b,%b," % (available, label.encode(), cell(_incoming(due).decode()).encode())


def _incoming(deliveries: tuple[Delivery, ...]) -> bytes:
    return to_json([{"incoming": d.incoming, "expected_on": local_text(d.expected_on)} for d in deliveries])


def _after(*texts: bytes) -> list[list[bytes]]:
    """Return, for each text, the hundred endings of an amount that it follows."""
    return [[b".%02d%b" % (pence, text) for pence in range(100)] for text in texts]


_STOCK_JSON, _STOCK_CSV = _Texts(_stock_json), _Texts(_stock_csv)
_POUNDS = _Texts[int](b"%d".__mod__)
_AFTER_COSTS_JSON = _after(b',"five_plus_unit_cost":', b',"ten_plus_unit_cost":', b"")
_AFTER_COSTS_CSV = _after(b",", b",", b",")
