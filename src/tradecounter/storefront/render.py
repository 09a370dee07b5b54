"""Products as bytes: encoded fragments joined with prices and stock (specification, section 2; CSV).

A page of 100 products takes about 0.2 ms: the loops over rows look up nothing twice, and the bytes of amounts and
stock levels are cached, because few of them differ.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from tradecounter.kit.csv_text import LINE_END, cell
from tradecounter.kit.json_text import to_json
from tradecounter.kit.local_time import local_text
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

# A row's units for sale, the threshold of low stock, and the deliveries that are shown.
_Stock = tuple[int, int, tuple[Delivery, ...]]

_ON_REQUEST = (DESCRIPTIONS, LINKS)
_BATCH = 100  # rows

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
    parts = (fragments.json_head[row], fragments.json_middle[row], fragments.json_tail[row])
    added = (_members([fragments.members[name][row] for name in group if name in extras]) for group in _ON_REQUEST)
    return _object(parts, (view.available(row), view.low_stock, view.shown_deliveries.get(row, ())), costs, *added)


def render_json(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield a JSON array of the resource Product, in chunks; `extras` are names of fields to add."""
    separator = b"["
    for batch in _batches(rows):
        yield separator + b",".join(_objects(view, batch, extras))
        separator = b","
    yield b"[]" if separator == b"[" else b"]"


def render_csv(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield the header line, then the rows as CSV lines, in chunks; `extras` are names of fields to add."""
    added = tuple(name for name in DESCRIPTIONS + LINKS if name in extras)
    yield (",".join((*HEAD, *AVAILABILITY, *COSTS, *MIDDLE, *TAIL, *added)) + LINE_END).encode()
    for batch in _batches(rows):
        yield b"".join(_lines(view, batch, added))


def _batches(rows: Rows) -> Iterator[Rows]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))


def _objects(view: CustomerView, rows: Rows, extras: Collection[str]) -> Iterator[bytes]:
    fragments = view.snapshot.fragments
    parts = zip(*(f.take(rows) for f in (fragments.json_head, fragments.json_middle, fragments.json_tail)), strict=True)
    names = [[name for name in group if name in extras] for group in _ON_REQUEST]
    added = (_added([fragments.members[name].take(rows) for name in group]) for group in names)
    return map(_object, parts, _stock(view, rows), view.prices.costs(rows).tolist(), *added)


def _object(
    parts: tuple[bytes, bytes, bytes], stock: _Stock, costs: Sequence[int], descriptions: bytes, links: bytes
) -> bytes:
    head, middle, tail = parts
    available, low_stock, due = stock
    return b"".join(
        (
            head,
            _level_json(available, low_stock, bool(due)),
            _incoming(due) if due else b"[]",
            b'},"single_unit_cost":',
            _AMOUNTS[costs[0]],
            b',"five_plus_unit_cost":',
            _AMOUNTS[costs[1]],
            b',"ten_plus_unit_cost":',
            _AMOUNTS[costs[2]],
            middle,
            descriptions,
            tail,
            links,
            b"}",
        )
    )


def _lines(view: CustomerView, rows: Rows, added: tuple[str, ...]) -> Iterator[bytes]:
    fragments = view.snapshot.fragments
    parts = zip(fragments.csv_head.take(rows), fragments.csv_tail.take(rows), strict=True)
    costs = view.prices.costs(rows).tolist()
    if not added:
        return map(_line, parts, _stock(view, rows), costs, repeat(b""))
    extras = csv_cells([view.product(row) for row in rows.tolist()], added)
    return map(_line, parts, _stock(view, rows), costs, map(b",%b".__mod__, extras))


def _line(parts: tuple[bytes, bytes], stock: _Stock, costs: Sequence[int], extras: bytes) -> bytes:
    head, tail = parts
    available, low_stock, due = stock
    return b"".join(
        (
            head,
            _level_csv(available, low_stock, bool(due)),
            _incoming_cell(due) if due else b"[],",
            _AMOUNTS[costs[0]],
            b",",
            _AMOUNTS[costs[1]],
            b",",
            _AMOUNTS[costs[2]],
            b",",
            tail,
            extras,
            b"\r\n",
        )
    )


def _stock(view: CustomerView, rows: Rows) -> Iterator[_Stock]:
    due, low_stock = view.shown_deliveries, view.low_stock
    levels = zip(rows.tolist(), view.stock.available[rows].tolist(), strict=True)
    return ((available, low_stock, due.get(row, ())) for row, available in levels)


def _members(members: Iterable[bytes]) -> bytes:
    """Return members of a JSON object, each after a comma."""
    return b"".join([b"," + member for member in members])


def _added(columns: list[list[bytes]]) -> Iterable[bytes]:
    """Yield each row's members from columns of members; without columns, empty bytes forever."""
    return map(_members, zip(*columns, strict=True)) if columns else repeat(b"")


class _Amounts(dict[int, bytes]):
    """The bytes of amounts by pence; at most MOST are cached."""

    MOST = 100_000

    def __missing__(self, pence: int) -> bytes:
        amount = b"%d.%02d" % divmod(pence, 100)
        if len(self) < self.MOST:
            self[pence] = amount
        return amount


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
