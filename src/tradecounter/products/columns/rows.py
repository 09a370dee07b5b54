"""A product's row by its id, and sets of rows as bits."""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap


class RowOfId(Mapping[int, int]):
    """The row of each product's id."""

    __slots__ = ("_by_row", "_ids", "_look_up", "_rows")

    def __init__(self, ids: NDArray[np.int64], rows: NDArray[np.int32]) -> None:
        """`ids` are in ascending order; `rows` has the row of each."""
        self._ids = ids
        self._rows = rows
        self._by_row: NDArray[np.int64] | None = None
        self._look_up = ids.data

    @classmethod
    def of(cls, ids_by_row: Collection[int]) -> "RowOfId":
        """Return the mapping for ids that are listed in the order of their rows."""
        ids = np.array(ids_by_row, dtype=np.int64)
        rows = np.argsort(ids, kind="stable").astype(np.int32)
        return cls(ids[rows], rows)

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the rows of many ids; -1 for an unknown id."""
        places = np.searchsorted(self._ids, ids)
        known = places < len(self._ids)
        known[known] = self._ids[places[known]] == ids[known]
        found = np.full(len(ids), -1, dtype=np.int32)
        found[known] = self._rows[places[known]]
        return found

    def ids(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the ids of many rows."""
        if self._by_row is None:
            by_row = np.empty(len(self._ids), dtype=np.int64)
            by_row[self._rows] = self._ids
            self._by_row = by_row
        found: NDArray[np.int64] = self._by_row[rows]
        return found

    def __getitem__(self, product_id: int) -> int:
        place = bisect_left(self._look_up, product_id)
        if place == len(self._ids) or self._look_up[place] != product_id:
            raise KeyError(product_id)
        return int(self._rows[place])

    def __iter__(self) -> Iterator[int]:
        return iter(self._look_up)

    def __len__(self) -> int:
        return len(self._ids)

    def __reduce__(self) -> tuple[Any, ...]:
        return RowOfId, (self._ids, self._rows)


def bitmap(rows: NDArray[np.integer]) -> BitMap:
    """Return a bitmap of rows, which must be in ascending order."""
    return BitMap(array("I", rows.astype(np.uint32).tobytes()))


def rows_of(rows: BitMap) -> NDArray[np.int32]:
    """Return the rows of a bitmap, in ascending order."""
    return np.frombuffer(rows.to_array(), dtype=np.uint32).astype(np.int32)


def are_among(rows: NDArray[np.integer], ascending: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return of each row whether `ascending` has it."""
    if not len(ascending):
        return np.zeros(len(rows), dtype=np.bool_)
    places = ascending.searchsorted(rows)
    places[places == len(ascending)] = 0
    found: NDArray[np.bool_] = ascending[places] == rows
    return found
