"""Finding and sorting products in memory (specification, section 4; decisions, catalogue)."""

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.kit.errors import invalid
from tradecounter.kit.text import fold
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.view import CustomerView

Rows = NDArray[np.int32]


def find_products(view: CustomerView, wanted: ProductListParameters) -> Rows:
    """Return the rows that match, in the order asked for. Raises DomainError (invalid) for senseless filters."""
    rows = view.priced(np.array(_matching(view, wanted), dtype=np.int32))
    if wanted.in_stock == "true":
        rows = rows[view.stock.available[rows] > 0]
    return _sorted(view, rows, wanted)


def _matching(view: CustomerView, wanted: ProductListParameters) -> BitMap:
    snapshot = view.snapshot
    found = snapshot.active
    if wanted.manufacturer:
        found = found & _any_of(snapshot.manufacturers, wanted.manufacturer)
    if wanted.category:
        found = found & _any_of(snapshot.categories, wanted.category)
    if (rows := snapshot.attributes.find(wanted.attribute)) is not None:
        found = found & rows
    if wanted.query is not None and (rows := snapshot.search.find(wanted.query)) is not None:
        found = found & rows
    reduced = _reduced(wanted)
    if reduced is not None:
        found = found & snapshot.clearance if reduced else found - snapshot.clearance
    return found


def _any_of(rows_of_name: dict[str, BitMap], names: tuple[str, ...]) -> BitMap:
    return BitMap.union(*(rows_of_name.get(fold(name), BitMap()) for name in names))


def _reduced(wanted: ProductListParameters) -> bool | None:
    values = {wanted.reduced, wanted.clearance} - {None}
    if len(values) > 1:
        raise invalid("reduced", "contradicts clearance, which means the same: give one of them")
    return values.pop() == "true" if values else None


def _sorted(view: CustomerView, rows: Rows, wanted: ProductListParameters) -> Rows:
    """Sort rows that are in order of SKU; stable sorts keep that order among equals."""
    match wanted.sort:
        case "price":
            return rows[np.argsort(view.prices.costs(rows)[:, 0], kind="stable")]
        case "availability":
            return rows[np.argsort(-view.stock.available[rows], kind="stable")]
        case "name":
            return rows[np.argsort(view.snapshot.name_rank[rows], kind="stable")]
        case "sku":
            return rows
    return _exact_first(view, rows, wanted.query) if wanted.query else rows


def _exact_first(view: CustomerView, rows: Rows, query: str) -> Rows:
    """Move the product whose SKU is the query, and those whose EAN is, to the front."""
    text = query.strip()
    sku_row = view.snapshot.row_of_sku.get(fold(text))
    exact = [*([] if sku_row is None else [sku_row]), *view.snapshot.rows_of_ean.get(text, [])]
    first = [row for row in dict.fromkeys(exact) if row in rows]
    return np.array([*first, *rows[~np.isin(rows, first)]], dtype=np.int32) if first else rows
