"""Many small things in a few large buffers: what a snapshot of 100,000 products is made of.

As Python objects they would take a multiple of the memory, every garbage collection would walk over them, and handing
them from one process to another would mean making each of them anew. All of them pickle without being copied.
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

_MOST_IN_FOUR_BYTES = 2**32 - 1
_COMMON = 256  # rows from which a set of them is kept as a bitmap


class Texts(Sequence[bytes]):
    """Byte strings, one after the other in one; taking one out makes it."""

    __slots__ = ("_data", "_ends", "_starts")

    def __init__(self, data: bytes, starts: NDArray[Any]) -> None:
        """Hold `data`; the text of row i goes from `starts[i]` to `starts[i + 1]`."""
        self._data = data
        self._starts = starts
        self._ends = starts.data  # indexed, it gives plain integers, in half the time

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, row: int) -> bytes: ...
    @overload
    def __getitem__(self, row: slice) -> list[bytes]: ...
    def __getitem__(self, row: int | slice) -> bytes | list[bytes]:
        """Return a row's text; rows do not count from the end."""
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        return self._data[self._ends[row] : self._ends[row + 1]]

    def take(self, rows: NDArray[Any]) -> list[bytes]:
        """Return the texts of rows: faster than one by one."""
        data = self._data
        starts, ends = self._starts[rows].tolist(), self._starts[rows + 1].tolist()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Texts, (PickleBuffer(self._data), self._starts)

    @property
    def parts(self) -> tuple[bytes, bytes]:
        """The text as a whole and where each begins, for a digest."""
        return self._data, self._starts.tobytes()


class TextsBuilder:
    """Collects texts."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.add = self._parts.append  # a text behind the others

    def done(self) -> Texts:
        """Return all that were added."""
        data = b"".join(self._parts)
        starts = np.zeros(len(self._parts) + 1, dtype=np.int64)
        np.cumsum([len(part) for part in self._parts], out=starts[1:])
        return Texts(data, starts.astype(np.uint32) if len(data) <= _MOST_IN_FOUR_BYTES else starts)


def texts(parts: Iterable[bytes]) -> Texts:
    """Return byte strings packed."""
    builder = TextsBuilder()
    for part in parts:
        builder.add(part)
    return builder.done()


def encoded(text: str) -> bytes:
    """Return text as it is compared: in UTF-8, bytes sort as code points do."""
    return text.encode(errors="surrogatepass")


def bitmap(rows: NDArray[np.integer]) -> BitMap:
    """Return rows in order as a set: by far faster than a set of the array itself."""
    return BitMap(array("I", rows.astype(np.uint32).tobytes()))


def rows_of(found: BitMap) -> NDArray[np.int32]:
    """Return a set's rows in order, by far faster than an array of the set itself."""
    return np.frombuffer(found.to_array(), dtype=np.uint32).astype(np.int32)


class RowSets:
    """Sets of rows by number; the small ones lie one after the other."""

    __slots__ = ("_common", "_rows", "_starts")

    def __init__(self, rows: NDArray[np.uint32], starts: NDArray[np.int64], common: dict[int, BitMap]) -> None:
        self._rows = rows
        self._starts = starts
        self._common = common

    @classmethod
    def of(cls, sets: Iterable[Sequence[int]]) -> "RowSets":
        """Pack sets, given as rows in order."""
        rows, starts, common = array("I"), array("q", [0]), {}
        for number, members in enumerate(sets):
            if len(members) < _COMMON:
                rows.extend(members)
            else:
                common[number] = BitMap(array("I", members))
            starts.append(len(rows))
        return cls(np.frombuffer(rows, dtype=np.uint32), np.frombuffer(starts, dtype=np.int64), common)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def union(self, start: int, end: int) -> BitMap:
        """Return the rows that are in any of the sets from `start` up to `end`."""
        if start >= end:
            return BitMap()
        rows = np.sort(self._rows[self._starts[start] : self._starts[end]])  # in order, they are quicker to take in
        found = bitmap(rows)
        if end - start < len(self._common):
            common = [self._common[number] for number in range(start, end) if number in self._common]
        else:
            common = [having for number, having in self._common.items() if start <= number < end]
        return BitMap.union(found, *common) if common else found

    def __reduce__(self) -> tuple[Any, ...]:
        return RowSets, (self._rows, self._starts, self._common)


class RowsByText(Mapping[str, BitMap]):
    """Sets of rows by a text, found also by how the text begins."""

    __slots__ = ("_keys", "_sets")

    def __init__(self, keys: Texts, sets: RowSets) -> None:
        self._keys = keys
        self._sets = sets

    @classmethod
    def of(cls, rows: Mapping[bytes, Sequence[int]]) -> "RowsByText":
        """Pack sets of rows, each in order, by their encoded texts."""
        keys = sorted(rows)
        return cls(texts(keys), RowSets.of(rows[key] for key in keys))

    def starting(self, start: str) -> BitMap:
        """Return the rows of all texts that begin so."""
        key = encoded(start)
        first = bisect_left(self._keys, key)
        return self._sets.union(first, bisect_left(self._keys, key + b"\xff", first))

    def __getitem__(self, text: str) -> BitMap:
        key = encoded(text)
        place = bisect_left(self._keys, key)
        if place == len(self._keys) or self._keys[place] != key:
            raise KeyError(text)
        return self._sets.union(place, place + 1)

    def __iter__(self) -> Iterator[str]:
        return (key.decode(errors="surrogatepass") for key in self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __reduce__(self) -> tuple[Any, ...]:
        return RowsByText, (self._keys, self._sets)


class RowOfText(Mapping[str, int]):
    """The row of each text, where the rows are in order of their texts."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Texts) -> None:
        self._keys = keys

    def place(self, text: str) -> int:
        """Return the row of the first text that does not come before another one, the number of rows if all do."""
        return bisect_left(self._keys, encoded(text))

    def __getitem__(self, text: str) -> int:
        key = encoded(text)
        row = bisect_left(self._keys, key)
        if row == len(self._keys) or self._keys[row] != key:
            raise KeyError(text)
        return row

    def __iter__(self) -> Iterator[str]:
        return (key.decode(errors="surrogatepass") for key in self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __reduce__(self) -> tuple[Any, ...]:
        return RowOfText, (self._keys,)


class RowOfId(Mapping[int, int]):
    """The row of each product's id."""

    __slots__ = ("_ids", "_look_up", "_rows")

    def __init__(self, ids: NDArray[np.int64], rows: NDArray[np.int32]) -> None:
        """Hold ids in order, and beside each its row."""
        self._ids = ids
        self._rows = rows
        self._look_up = ids.data

    @classmethod
    def of(cls, ids_by_row: Collection[int]) -> "RowOfId":
        """Pack the ids of all rows, in order of row."""
        ids = np.array(ids_by_row, dtype=np.int64)
        rows = np.argsort(ids, kind="stable").astype(np.int32)
        return cls(ids[rows], rows)

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the rows of many ids at once, -1 where there is none."""
        places = np.searchsorted(self._ids, ids)
        known = places < len(self._ids)
        known[known] = self._ids[places[known]] == ids[known]
        found = np.full(len(ids), -1, dtype=np.int32)
        found[known] = self._rows[places[known]]
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
