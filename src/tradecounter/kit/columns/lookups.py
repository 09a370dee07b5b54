"""Finds rows by a product's id, keys by bisection, and the rows that contain a term; sets of rows as bits."""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.kit.columns.bytes_column import BytesColumn, bytes_column, encoded


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
        rows_of_ids = np.full(len(ids), -1, dtype=np.int32)
        rows_of_ids[known] = self._rows[places[known]]
        return rows_of_ids

    def ids(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the ids of many rows."""
        if self._by_row is None:
            by_row = np.empty(len(self._ids), dtype=np.int64)
            by_row[self._rows] = self._ids
            self._by_row = by_row
        ids_of_rows: NDArray[np.int64] = self._by_row[rows]
        return ids_of_rows

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
    is_among: NDArray[np.bool_] = ascending[places] == rows
    return is_among


_STEP = 32


class SortedKeys(Mapping[str, int]):
    """The place of each key in ascending order.

    Every 32nd key is kept as an object: bisecting those first takes a third of the time.
    """

    __slots__ = ("_keys", "_some")

    def __init__(self, keys: BytesColumn) -> None:
        self._keys = keys
        self._some: list[bytes] | None = None  # until the first search

    def place(self, key: str) -> int:
        """Return a key's place, or the place where it would be inserted."""
        return self._place(encoded(key))

    def _place(self, key: bytes) -> int:
        if self._some is None:
            self._some = self._keys.take(np.arange(0, len(self._keys), _STEP))
        after = bisect_left(self._some, key) * _STEP
        return bisect_left(self._keys, key, max(0, after - _STEP), min(after, len(self._keys)))

    def span(self, prefix: str) -> tuple[int, int]:
        """Return the first place of the keys with a prefix, and the place after the last."""
        return self.span_encoded(encoded(prefix))

    def span_encoded(self, prefix: bytes) -> tuple[int, int]:
        """Return what `span` does, of a prefix that is encoded."""
        first = self._place(prefix)
        if first == len(self._keys) or not self._keys[first].startswith(prefix):
            return first, first
        return first, self._place(prefix + b"\xff")

    def containing(self, part: str) -> Iterator[int]:
        """Yield the places of the keys that contain a text, in ascending order; none for an empty one."""
        return self._keys.containing(encoded(part))

    def get_encoded(self, key: bytes) -> int | None:
        """Return the place of an encoded key, or None."""
        place = self._place(key)
        return place if place < len(self._keys) and self._keys[place] == key else None

    def beginnings(self, word: bytes) -> Iterator[tuple[int, int]]:
        """Yield the length and the place of each key that begins an encoded word, without the word itself."""
        for length in range(1, len(word)):
            beginning = word[:length]
            first, last = self.span_encoded(beginning)
            if first == last:
                return
            if self._keys[first] == beginning:
                yield length, first

    def key(self, place: int) -> bytes:
        """Return the encoded key of a place."""
        return self._keys[place]

    def __getitem__(self, key: str) -> int:
        place = self.place(key)
        if place == len(self._keys) or self._keys[place] != encoded(key):
            raise KeyError(key)
        return place

    def __iter__(self) -> Iterator[str]:
        return (key.decode(errors="surrogatepass") for key in self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __reduce__(self) -> tuple[Any, ...]:
        return SortedKeys, (self._keys,)


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
        union = bitmap(_ascending(short[0] if len(short) == 1 else np.concatenate(short)))
        common = [rows for start, end in spans for rows in self._common_between(start, end)]
        return BitMap.union(union, *common) if common else union

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
