"""The rows that contain each term."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.products.columns.bytes_column import bytes_column
from tradecounter.products.columns.rows import bitmap
from tradecounter.products.columns.sorted_keys import SortedKeys

_COMMON = 256  # longer posting lists, and those of this many rows, are stored as bitmaps

_MANY = 4096  # rows from which marking them is faster than sorting


class PostingLists:
    """Numbered lists of rows; short lists lie end to end in one array."""

    __slots__ = ("_common", "_rows", "_starts")

    def __init__(self, rows: NDArray[np.uint32], starts: NDArray[np.int64], common: dict[int, BitMap]) -> None:
        self._rows = rows
        self._starts = starts
        self._common = common

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "PostingLists":
        """Pack lists of rows."""
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        common = np.flatnonzero(lengths >= _COMMON).tolist()
        bitmaps = {number: BitMap(array("I", lists[number])) for number in common}
        lengths[common] = 0
        starts = np.concatenate(([0], np.cumsum(lengths)))
        short = (members for members in lists if len(members) < _COMMON)
        rows = np.fromiter(chain.from_iterable(short), dtype=np.uint32, count=starts[-1])
        return cls(rows, starts, bitmaps)

    @classmethod
    def packed(cls, rows: NDArray[Any], starts: NDArray[np.int64]) -> "PostingLists":
        """Return the lists `rows[starts[i] : starts[i + 1]]`, each in ascending order."""
        lengths = np.diff(starts)
        common = lengths >= _COMMON
        bitmaps = {
            number: bitmap(rows[starts[number] : starts[number + 1]]) for number in np.flatnonzero(common).tolist()
        }
        short = rows[~np.repeat(common, lengths)]
        lengths[common] = 0
        return cls(short, np.concatenate(([0], np.cumsum(lengths))), bitmaps)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def union(self, start: int, end: int) -> BitMap:
        """Return the rows of the lists from `start` up to, but not including, `end`."""
        return self.union_of([(start, end)])

    def union_of(self, spans: Sequence[tuple[int, int]]) -> BitMap:
        """Return the rows of the lists of several spans, each as `union` takes it."""
        short = [self._rows[self._starts[start] : self._starts[end]] for start, end in spans if start < end]
        if not short:
            return BitMap()
        found = bitmap(_ascending(short[0] if len(short) == 1 else np.concatenate(short)))
        common = [rows for start, end in spans for rows in self._common_between(start, end)]
        return BitMap.union(found, *common) if common else found

    def _common_between(self, start: int, end: int) -> list[BitMap]:
        if end - start < len(self._common):
            return [self._common[number] for number in range(start, end) if number in self._common]
        return [rows for number, rows in self._common.items() if start <= number < end]

    def __reduce__(self) -> tuple[Any, ...]:
        return PostingLists, (self._rows, self._starts, self._common)


def _ascending(rows: NDArray[np.uint32]) -> NDArray[np.integer]:
    """Return rows in ascending order: a bitmap of sorted rows is built faster."""
    if len(rows) < _MANY:
        return np.sort(rows)
    flags = np.zeros(int(rows.max()) + 1, dtype=np.bool_)
    flags[rows] = True
    return np.flatnonzero(flags)


class InvertedIndex(Mapping[str, BitMap]):
    """The rows that contain each term."""

    __slots__ = ("_postings", "_terms")

    def __init__(self, terms: SortedKeys, postings: PostingLists) -> None:
        self._terms = terms
        self._postings = postings

    @classmethod
    def of(cls, rows: Mapping[bytes, Sequence[int]]) -> "InvertedIndex":
        """Return the index of encoded terms; each term's rows must be in ascending order."""
        terms = sorted(rows)
        return cls(SortedKeys(bytes_column(terms)), PostingLists.of([rows[term] for term in terms]))

    def __getitem__(self, term: str) -> BitMap:
        place = self._terms[term]
        return self._postings.union(place, place + 1)

    def __iter__(self) -> Iterator[str]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)

    def __reduce__(self) -> tuple[Any, ...]:
        return InvertedIndex, (self._terms, self._postings)
