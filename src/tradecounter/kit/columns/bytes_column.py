"""Byte strings by row, and texts with a gap by row, for what differs between readers."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from mmap import mmap
from pickle import PickleBuffer
from typing import Any, cast, overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

_MOST_IN_FOUR_BYTES = 2**32 - 1


class BytesColumn(Sequence[bytes]):
    """Byte strings stored end to end in one buffer; a row's `bytes` object is created when it is read."""

    __slots__ = ("_base", "_bounds", "_data", "_starts")

    def __init__(self, data: bytes | memoryview, starts: NDArray[Any]) -> None:
        """Row i is `data[starts[i] : starts[i + 1]]`; a memory view is a part of bytes or of a mapped file."""
        # Slices of both are bytes, which slices of a memory view are not.
        self._data = cast("bytes | mmap", data.obj if isinstance(data, memoryview) else data)
        self._base = _address(data) - _address(self._data)
        self._starts = starts
        self._bounds = starts.data  # indexing a memory view returns plain integers, in half the time

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, row: int) -> bytes: ...
    @overload
    def __getitem__(self, row: slice) -> list[bytes]: ...
    def __getitem__(self, row: int | slice) -> bytes | list[bytes]:
        """Return the bytes of a row or of a slice of rows; negative rows are not supported."""
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        base, bounds = self._base, self._bounds
        return self._data[base + bounds[row] : base + bounds[row + 1]]

    def take(self, rows: NDArray[Any]) -> list[bytes]:
        """Return the bytes of several rows; faster than one row at a time."""
        return self.spans(rows, rows)

    def spans(self, first: NDArray[Any], last: NDArray[Any]) -> list[bytes]:
        """Return the bytes of several spans of rows, from each first to each last one."""
        data = self._data
        starts = (self._starts[first].astype(np.int64) + self._base).tolist()
        ends = (self._starts[last + 1].astype(np.int64) + self._base).tolist()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]

    def containing(self, part: bytes) -> Iterator[int]:
        """Yield the rows that contain a byte string, in ascending order; none for an empty one."""
        data, base, bounds = self._data, self._base, self._bounds
        end = base + bounds[-1]
        place = data.find(part, base, end) if part else -1
        while place >= 0:
            row = bisect_right(bounds, place - base) - 1
            follows = base + bounds[row + 1]
            if place + len(part) <= follows:
                yield row
                place = data.find(part, follows, end)
            else:  # it begins in this row and ends in another one
                place = data.find(part, place + 1, end)

    def __reduce__(self) -> tuple[Any, ...]:
        return BytesColumn, (PickleBuffer(self._part), self._starts)

    @property
    def parts(self) -> tuple[bytes, bytes]:
        """The whole buffer and the starts of all rows, for a digest."""
        return bytes(self._part), self._starts.tobytes()

    @property
    def _part(self) -> bytes | memoryview:
        if isinstance(self._data, bytes) and len(self._data) == self._bounds[-1]:
            return self._data
        return memoryview(self._data)[self._base : self._base + self._bounds[-1]]


def _address(buffer: bytes | mmap | memoryview) -> int:
    return int(np.frombuffer(buffer, dtype=np.uint8).ctypes.data)


class BytesColumnBuilder:
    """Packs byte strings into a column, batch by batch."""

    def __init__(self) -> None:
        self._batches: list[bytes] = []
        self._lengths = array("q")

    def add(self, rows: Sequence[bytes]) -> None:
        """Add the byte strings of the next rows."""
        self._batches.append(b"".join(rows))
        self._lengths.extend(map(len, rows))

    def done(self) -> BytesColumn:
        """Return the column."""
        data = b"".join(self._batches)
        starts = np.zeros(len(self._lengths) + 1, dtype=np.int64)
        np.cumsum(self._lengths, out=starts[1:])
        return BytesColumn(data, starts.astype(np.uint32) if len(data) <= _MOST_IN_FOUR_BYTES else starts)


def bytes_column(rows: Sequence[bytes]) -> BytesColumn:
    """Pack byte strings into a column."""
    builder = BytesColumnBuilder()
    builder.add(rows)
    return builder.done()


def encoded(text: str) -> bytes:
    """Return text as columns store it: UTF-8, which sorts by code point."""
    return text.encode(errors="surrogatepass")


class GappedColumn(Struct, frozen=True):
    """Texts end to end, each in two halves: `halves` has twice as many rows.

    So what follows the gap of a row and what precedes that of the next one can be read in one piece.
    """

    halves: BytesColumn

    def before(self, row: int) -> bytes:
        """Return what precedes the gap of a row."""
        return self.halves[2 * row]

    def after(self, row: int) -> bytes:
        """Return what follows the gap of a row."""
        return self.halves[2 * row + 1]

    def take(self, rows: NDArray[Any]) -> tuple[list[bytes], list[bytes]]:
        """Return what precedes and what follows the gaps of several rows."""
        return self.halves.take(2 * rows), self.halves.take(2 * rows + 1)

    def take_joined(self, rows: NDArray[Any]) -> tuple[list[bytes], list[bytes]]:
        """Return as `take` does, but with what precedes the gap of a row at the end of what follows the one before it.

        This is so where a row is the next one of the column, and faster, since half as many pieces are cut.
        """
        is_next = rows[1:] == rows[:-1] + 1
        begins = np.flatnonzero(np.concatenate(((True,), ~is_next)))
        tails = self.halves.spans(2 * rows + 1, 2 * rows + 1 + np.concatenate((is_next, (False,))))
        heads = self.halves.take(2 * rows[begins])
        if len(begins) == len(rows):
            return heads, tails
        spread = [b""] * len(rows)
        for place, before in zip(begins.tolist(), heads, strict=True):
            spread[place] = before
        return spread, tails


class GappedColumnBuilder:
    """Packs texts with gaps into a column, batch by batch."""

    def __init__(self) -> None:
        self._halves = BytesColumnBuilder()

    def add(self, heads: Sequence[bytes], tails: Sequence[bytes]) -> None:
        """Add what precedes and what follows the gaps of the next rows."""
        self._halves.add([half for halves in zip(heads, tails, strict=True) for half in halves])

    def done(self) -> GappedColumn:
        """Return the column."""
        return GappedColumn(self._halves.done())
