"""A text with a gap by row, for what differs between readers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tradecounter.products.columns.bytes_column import BytesColumn, BytesColumnBuilder


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
