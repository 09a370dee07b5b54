"""Products as bytes: encoded fragments joined with prices and stock (specification, section 2; decisions, CSV).

A page of 100 products takes about a tenth of a millisecond: the loops over rows look nothing up twice, and the texts of
amounts and stock levels, of which there are few different ones, are remembered.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tradecounter.catalogue.fragments import (
    AVAILABILITY,
    COSTS,
    DESCRIPTIONS,
    HEAD,
    LINKS,
    MIDDLE,
    TAIL,
    csv_cells,
    json_members,
)
from tradecounter.kit.local_time import local_text
from tradecounter.rest.answers import to_json
from tradecounter.rest.csv_text import LINE_END, cell
from tradecounter.stock.rules import Delivery, status
from tradecounter.storefront.view import CustomerView

Rows = NDArray[np.int32]

# A row's pieces, made from its number, its unit costs in pence for 1, 5 and 10 units, and its units in stock.
_RowWriter = Callable[[int, Sequence[int], int], tuple[bytes, ...]]

_ROWS_OF_A_PIECE = 100

EXTRA_FIELDS = {
    "description": "description",
    "description_html": "description_html",
    "short_description": "short_description",
    "related": "related_products",
    "similar": "similar_products",
}


def product_json(view: CustomerView, row: int, costs: Sequence[int], extras: Collection[str] = ()) -> bytes:
    """Return a row as a JSON object of the resource Product.

    `costs` are unit costs in pence for 1, 5 and 10 units; `extras` are names of fields to add.
    """
    return b"".join(_json_writer(view, extras)(row, costs, view.available(row)))


def render_json(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield rows, a piece at a time, as a JSON array of the resource Product; `extras` are names of fields to add."""
    write = _json_writer(view, extras)
    separator = b"["
    for stretch in _stretches(rows):
        yield separator + b",".join([b"".join(write(*values)) for values in _values(view, stretch)])
        separator = b","
    yield b"[]" if separator == b"[" else b"]"


def render_csv(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield the header line, then the rows as CSV lines, a piece at a time; `extras` are field names."""
    added = tuple(name for name in DESCRIPTIONS + LINKS if name in extras)
    yield (",".join((*HEAD, *AVAILABILITY, *COSTS, *MIDDLE, *TAIL, *added)) + LINE_END).encode()
    write = _csv_writer(view, added)
    for stretch in _stretches(rows):
        yield b"".join([piece for values in _values(view, stretch) for piece in write(*values)])


def _stretches(rows: Rows) -> Iterator[Rows]:
    return (rows[start : start + _ROWS_OF_A_PIECE] for start in range(0, len(rows), _ROWS_OF_A_PIECE))


def _values(view: CustomerView, rows: Rows) -> Iterator[tuple[int, list[int], int]]:
    """Return what a row writer takes, for each of the rows."""
    return zip(rows.tolist(), view.prices.costs(rows).tolist(), view.stock.available[rows].tolist(), strict=True)


def _json_writer(view: CustomerView, extras: Collection[str]) -> _RowWriter:
    head, middle, tail = (getattr(view.snapshot.fragments, f"json_{part}") for part in ("head", "middle", "tail"))
    descriptions = tuple(name for name in DESCRIPTIONS if name in extras)
    links = tuple(name for name in LINKS if name in extras)
    due, low_stock = view.shown_deliveries, view.low_stock

    def write(row: int, costs: Sequence[int], available: int) -> tuple[bytes, ...]:
        deliveries = due.get(row, ())
        return (
            head[row],
            _level_json(available, low_stock, bool(deliveries)),
            _incoming(deliveries) if deliveries else b"[]",
            b'},"single_unit_cost":',
            _AMOUNTS[costs[0]],
            b',"five_plus_unit_cost":',
            _AMOUNTS[costs[1]],
            b',"ten_plus_unit_cost":',
            _AMOUNTS[costs[2]],
            middle[row],
            b"," + json_members(view.product(row), descriptions) if descriptions else b"",
            tail[row],
            b"," + json_members(view.product(row), links) if links else b"",
            b"}",
        )

    return write


def _csv_writer(view: CustomerView, added: tuple[str, ...]) -> _RowWriter:
    head, tail = view.snapshot.fragments.csv_head, view.snapshot.fragments.csv_tail
    due, low_stock = view.shown_deliveries, view.low_stock

    def write(row: int, costs: Sequence[int], available: int) -> tuple[bytes, ...]:
        deliveries = due.get(row, ())
        return (
            head[row],
            _level_csv(available, low_stock, bool(deliveries)),
            _incoming_cell(deliveries) if deliveries else b"[],",
            _AMOUNTS[costs[0]],
            b",",
            _AMOUNTS[costs[1]],
            b",",
            _AMOUNTS[costs[2]],
            b",",
            tail[row],
            b"," + csv_cells(view.product(row), added) if added else b"",
            b"\r\n",
        )

    return write


class _Amounts(dict[int, bytes]):
    """The texts of amounts by pence; those that were needed are remembered, up to a number."""

    most = 100_000

    def __missing__(self, pence: int) -> bytes:
        text = b"%d.%02d" % divmod(pence, 100)
        if len(self) < self.most:
            self[pence] = text
        return text


_AMOUNTS = _Amounts()


@lru_cache(maxsize=10_000)
def _level_json(available: int, low_stock: int, delivery_shown: bool) -> bytes:
    label = status(available, low_stock, delivery_shown=delivery_shown)
    return b'{"available":%d,"status":"%b","incoming":' % (available, label.encode())


@lru_cache(maxsize=10_000)
def _level_csv(available: int, low_stock: int, delivery_shown: bool) -> bytes:
    return b",%d,%b," % (available, status(available, low_stock, delivery_shown=delivery_shown).encode())


@lru_cache(maxsize=10_000)
def _incoming(deliveries: tuple[Delivery, ...]) -> bytes:
    return to_json([{"incoming": d.incoming, "expected_on": local_text(d.expected_on)} for d in deliveries])


@lru_cache(maxsize=10_000)
def _incoming_cell(deliveries: tuple[Delivery, ...]) -> bytes:
    return (cell(_incoming(deliveries).decode()) + ",").encode()
