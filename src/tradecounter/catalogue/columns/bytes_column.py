"""Byte strings by row."""

from collections.abc import Iterable, Sequence
from pickle import PickleBuffer
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_MOST_IN_FOUR_BYTES = 2**32 - 1


class BytesColumn(Sequence[bytes]):
    """Byte strings stored end to end in one buffer; reading a row creates its `bytes`."""

    __slots__ = ("_data", "_ends", "_starts")

    def __init__(self, data: bytes, starts: NDArray[Any]) -> None:
        """Take the buffer; row i is `data[starts[i] : starts[i + 1]]`."""
        self._data = data
        self._starts = starts
        self._ends = starts.data  # indexing it returns plain integers, in half the time

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, row: int) -> bytes: ...
    @overload
    def __getitem__(self, row: slice) -> list[bytes]: ...
    def __getitem__(self, row: int | slice) -> bytes | list[bytes]:
        """Return a row's bytes; negative rows are not supported."""
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        return self._data[self._ends[row] : self._ends[row + 1]]

    def take(self, rows: NDArray[Any]) -> list[bytes]:
        """Return the bytes of several rows, faster than one by one."""
        data = self._data
        starts, ends = self._starts[rows].tolist(), self._starts[rows + 1].tolist()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]

    def __reduce__(self) -> tuple[Any, ...]:
        return BytesColumn, (PickleBuffer(self._data), self._starts)

    @property
    def parts(self) -> tuple[bytes, bytes]:
        """The whole buffer and where each row starts, for a digest."""
        return self._data, self._starts.tobytes()


class BytesColumnBuilder:
    """Collects the rows of a column."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.add = self._parts.append  # appends a row

    def done(self) -> BytesColumn:
        """Return the column."""
        data = b"".join(self._parts)
        starts = np.zeros(len(self._parts) + 1, dtype=np.int64)
        np.cumsum([len(part) for part in self._parts], out=starts[1:])
        return BytesColumn(data, starts.astype(np.uint32) if len(data) <= _MOST_IN_FOUR_BYTES else starts)


def bytes_column(parts: Iterable[bytes]) -> BytesColumn:
    """Return a column of byte strings."""
    builder = BytesColumnBuilder()
    for part in parts:
        builder.add(part)
    return builder.done()


def encoded(text: str) -> bytes:
    """Return the bytes that columns compare: UTF-8 sorts as code points do."""
    return text.encode(errors="surrogatepass")
