"""Finding and sorting products in memory (specification, section 4; decisions, catalogue)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.catalogue.columns.bitmaps import rows_of
from tradecounter.kit.errors import invalid
from tradecounter.kit.text import fold
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.view import CustomerView

Rows = NDArray[np.int32]
_ROW_BITS = 32


@dataclass(frozen=True, slots=True)
class Found:
    """Rows that match, in the order asked for; only a slice of them is ever put in order.

    `first` come before all others; the rest is in order of what `key` gives for rows (None: of SKU), then of SKU.
    """

    rows: BitMap
    first: tuple[int, ...] = ()
    key: Callable[[Rows], NDArray[np.integer]] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: slice) -> Rows:
        """Return the rows from a place up to another; what it costs hardly depends on how many there are."""
        start, end, _ = part.indices(len(self))
        if start >= end:
            return np.empty(0, dtype=np.int32)
        if self.first:
            ahead, rest = self.first[start:end], self.rows - BitMap(self.first)
            skipped = len(self.first)
            rows = rows_of(rest[max(start - skipped, 0) : max(end - skipped, 0)])
            return np.concatenate([np.array(ahead, dtype=np.int32), rows])
        if self.key is None:
            return rows_of(self.rows[start:end])
        return self._sorted(self.key, start, end)

    def _sorted(self, key: Callable[[Rows], NDArray[np.integer]], start: int, end: int) -> Rows:
        rows = rows_of(self.rows)
        keys = key(rows)
        if end < len(rows):  # leave out early what comes behind the slice, but for rows with the same key
            near = keys <= np.partition(keys, end - 1)[end - 1]
            rows, keys = rows[near], keys[near]
        # Key and row in one number: to sort them is to sort by key, then by SKU.
        keyed = (keys.astype(np.int64) << _ROW_BITS) | rows
        if end < len(keyed):
            keyed = np.partition(keyed, end - 1)[:end]
        ordered: Rows = (np.sort(keyed)[start:end] & (2**_ROW_BITS - 1)).astype(np.int32)
        return ordered


def find_products(view: CustomerView, wanted: ProductListParameters) -> Found:
    """Return the rows that match, in the order asked for. Raises DomainError (invalid) for senseless filters."""
    rows = _matching(view, wanted) & view.prices.priced
    if wanted.in_stock == "true":
        rows &= view.stock.in_stock
    match wanted.sort:
        case "price":
            return Found(rows, key=view.prices.single_costs)
        case "availability":
            return Found(rows, key=lambda some: -view.stock.available[some])
        case "name":
            return Found(rows, key=lambda some: view.snapshot.name_rank[some])
        case "sku":
            return Found(rows)
    return Found(rows, _exact(view, rows, wanted.query) if wanted.query else ())


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
    found = BitMap()
    for name in names:
        # Most HTTP libraries encode the commas of a list, so a comma here separates too, unless it is part of a name.
        parts = [name] if fold(name) in rows_of_name else name.split(",")
        found |= BitMap.union(*(rows_of_name.get(fold(part.strip()), BitMap()) for part in parts))
    return found


def _reduced(wanted: ProductListParameters) -> bool | None:
    values = {wanted.reduced, wanted.clearance} - {None}
    if len(values) > 1:
        raise invalid("reduced", "contradicts clearance, which means the same: give one of them")
    return values.pop() == "true" if values else None


def _exact(view: CustomerView, rows: BitMap, query: str) -> tuple[int, ...]:
    """Return the product whose SKU is the query, then those whose EAN is."""
    text = query.strip()
    sku_row = view.snapshot.row_of_sku.get(fold(text))
    exact = [*([] if sku_row is None else [sku_row]), *view.snapshot.rows_of_ean.get(text, ())]
    return tuple(row for row in dict.fromkeys(exact) if row in rows)
