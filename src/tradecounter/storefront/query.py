"""Finds and sorts products in memory (specification, section 4; catalogue)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.products.columns.rows import rows_of
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.view import CustomerView

Rows = NDArray[np.int32]
_ROW_BITS = 32


@dataclass(frozen=True, slots=True)
class Found:
    """Matching rows in the requested order; only slices are ever sorted.

    The rows of `first` precede all others, which are ordered by the values that `key` returns for rows, then by SKU.
    """

    rows: BitMap
    first: tuple[int, ...] = ()
    key: Callable[[Rows], NDArray[np.integer]] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: slice) -> Rows:
        """Return a slice of the sorted rows, in a time that hardly depends on their number."""
        start, end, _ = part.indices(len(self))
        if start >= end:
            return np.empty(0, dtype=np.int32)
        if self.first:
            first, others = self.first[start:end], self.rows - BitMap(self.first)
            skipped = len(self.first)
            rows = rows_of(others[max(start - skipped, 0) : max(end - skipped, 0)])
            return np.concatenate([np.array(first, dtype=np.int32), rows])
        if self.key is None:
            return rows_of(self.rows[start:end])
        return self._sorted(self.key, start, end)

    def _sorted(self, key: Callable[[Rows], NDArray[np.integer]], start: int, end: int) -> Rows:
        rows = rows_of(self.rows)
        keys = key(rows)
        if end < len(rows):  # drop rows after the slice, except those with the key of its last row
            near = keys <= np.partition(keys, end - 1)[end - 1]
            rows, keys = rows[near], keys[near]
        # Sorting numbers that combine key and row sorts by key, then by SKU.
        keyed = (keys.astype(np.int64) << _ROW_BITS) | rows
        if end < len(keyed):
            keyed = np.partition(keyed, end - 1)[:end]
        ordered: Rows = (np.sort(keyed)[start:end] & (2**_ROW_BITS - 1)).astype(np.int32)
        return ordered


def find_products(view: CustomerView, parameters: ProductListParameters) -> Found:
    """Return the rows that match, in the requested order. Raises DomainError (invalid) for contradictory filters."""
    rows = _matching(view, parameters) & view.prices.priced
    if parameters.in_stock == "true":
        rows &= view.stock.in_stock
    match parameters.sort:
        case "price":
            return Found(rows, key=view.prices.single_costs)
        case "availability":
            return Found(rows, key=lambda rows: -view.stock.available[rows])
        case "name":
            return Found(rows, key=lambda rows: view.snapshot.name_rank[rows])
        case "sku":
            return Found(rows)
    return Found(rows, _exact(view, rows, parameters.query) if parameters.query else ())


def _matching(view: CustomerView, parameters: ProductListParameters) -> BitMap:
    snapshot = view.snapshot
    found = snapshot.active
    if parameters.manufacturer:
        found = found & _any_of(snapshot.manufacturers, parameters.manufacturer)
    if parameters.category:
        found = found & _any_of(snapshot.categories, parameters.category)
    if (rows := snapshot.attributes.find(parameters.attribute)) is not None:
        found = found & rows
    if parameters.query is not None and (rows := snapshot.search.find(parameters.query)) is not None:
        found = found & rows
    reduced = _reduced(parameters)
    if reduced is not None:
        found = found & snapshot.clearance if reduced else found - snapshot.clearance
    return found


def _any_of(rows_of_name: dict[str, BitMap], names: tuple[str, ...]) -> BitMap:
    found = BitMap()
    for name in names:
        # Most HTTP libraries encode the commas of a list, so a comma separates names unless a name contains it.
        parts = [name] if key_form(name) in rows_of_name else name.split(",")
        found |= BitMap.union(*(rows_of_name.get(key_form(part), BitMap()) for part in parts))
    return found


def _reduced(parameters: ProductListParameters) -> bool | None:
    values = {parameters.reduced, parameters.clearance} - {None}
    if len(values) > 1:
        raise invalid("reduced", "contradicts clearance, another name for it: send only one of them")
    return values.pop() == "true" if values else None


def _exact(view: CustomerView, rows: BitMap, query: str) -> tuple[int, ...]:
    """Return the row whose SKU equals the query, then the rows whose EAN equals it."""
    text = query.strip()
    sku_row = view.snapshot.row_of_sku.get(key_form(text))
    exact = [*([] if sku_row is None else [sku_row]), *view.snapshot.rows_of_ean.get(text, ())]
    return tuple(row for row in dict.fromkeys(exact) if row in rows)
