"""Products as bytes: encoded fragments joined with prices and stock (specification, section 2; decisions, CSV)."""

from collections.abc import Collection, Iterator, Sequence

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
)
from tradecounter.kit.local_time import local_text
from tradecounter.rest.answers import to_json
from tradecounter.rest.csv_text import LINE_END, cell
from tradecounter.storefront.view import CustomerView

Rows = NDArray[np.int32]

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
    fragments = view.snapshot.fragments
    return b"".join(
        (
            fragments.json_head[row],
            _availability_json(view, row),
            b',"single_unit_cost":%d.%02d,"five_plus_unit_cost":%d.%02d,"ten_plus_unit_cost":%d.%02d'
            % _pounds_and_pence(costs),
            fragments.json_middle[row],
            *(b"," + fragments.members[name][row] for name in DESCRIPTIONS if name in extras),
            fragments.json_tail[row],
            *(b"," + fragments.members[name][row] for name in LINKS if name in extras),
            b"}",
        )
    )


def render_json(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> bytes:
    """Return rows as a JSON array of the resource Product; `extras` are names of fields to add."""
    costs = view.prices.costs(rows).tolist()
    products = (product_json(view, row, c, extras) for row, c in zip(rows.tolist(), costs, strict=True))
    return b"[" + b",".join(products) + b"]"


def render_csv(view: CustomerView, rows: Rows, extras: Collection[str] = ()) -> Iterator[bytes]:
    """Yield the header line, then each row as a CSV line; `extras` are field names."""
    fragments = view.snapshot.fragments
    added = tuple(name for name in DESCRIPTIONS + LINKS if name in extras)
    yield (",".join((*HEAD, *AVAILABILITY, *COSTS, *MIDDLE, *TAIL, *added)) + LINE_END).encode()
    for row, costs in zip(rows.tolist(), view.prices.costs(rows).tolist(), strict=True):
        yield b"".join(
            (
                fragments.csv_head[row],
                _availability_csv(view, row),
                b",%d.%02d,%d.%02d,%d.%02d," % _pounds_and_pence(costs),
                fragments.csv_tail[row],
                b"," + csv_cells(view.product(row), added) if added else b"",
                b"\r\n",
            )
        )


def _pounds_and_pence(costs: Sequence[int]) -> tuple[int, ...]:
    return tuple(part for cost in costs for part in divmod(cost, 100))


def _incoming(view: CustomerView, row: int) -> bytes:
    deliveries = view.deliveries_shown(row)
    if not deliveries:
        return b"[]"
    return to_json([{"incoming": d.incoming, "expected_on": local_text(d.expected_on)} for d in deliveries])


def _availability_json(view: CustomerView, row: int) -> bytes:
    return b'{"available":%d,"status":"%b","incoming":%b}' % (
        view.available(row),
        view.status(row).encode(),
        _incoming(view, row),
    )


def _availability_csv(view: CustomerView, row: int) -> bytes:
    incoming = cell(_incoming(view, row).decode()).encode()
    return b",%d,%b,%b" % (view.available(row), view.status(row).encode(), incoming)
