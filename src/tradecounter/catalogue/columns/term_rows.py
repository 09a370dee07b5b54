"""The terms of each row, collected row by row and then grouped by term."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Term = TypeVar("Term", bound=Hashable)

_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64(2**32 - 1)


@dataclass(frozen=True, slots=True)
class TermRows(Generic[Term]):
    """Distinct terms in any order; row `rows[i]` has the term `terms[numbers[i]]`, perhaps several times."""

    terms: Sequence[Term]
    numbers: NDArray[np.uint32]
    rows: NDArray[np.uint32]

    def grouped(self, order: Sequence[int]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return each term's distinct rows in ascending order, end to end in this order of the terms, and their starts.

        The last start is the end of the last term's rows.
        """
        place = np.empty(len(order), dtype=np.uint64)
        place[np.asarray(order, dtype=np.intp)] = np.arange(len(order), dtype=np.uint64)
        pairs = (place[self.numbers] << _ROW_BITS) | self.rows
        pairs.sort()  # both at once: several times as fast as sorting by term and then by row
        pairs = pairs[np.flatnonzero(np.diff(pairs, prepend=~pairs[:1]))]
        starts = np.zeros(len(order) + 1, dtype=np.int64)
        np.cumsum(np.bincount((pairs >> _ROW_BITS).astype(np.intp), minlength=len(order)), out=starts[1:])
        return (pairs & _ROW_MASK).astype(np.uint32), starts

    def by_term(self) -> dict[Term, NDArray[np.uint32]]:
        """Return the distinct rows of each term, in ascending order."""
        rows, starts = self.grouped(range(len(self.terms)))
        return dict(zip(self.terms, np.split(rows, starts[1:-1]), strict=True)) if self.terms else {}


class TermRowsBuilder(Generic[Term]):
    """Numbers the terms of one row after another."""

    def __init__(self) -> None:
        self._number_of: defaultdict[Term, int] = defaultdict()
        self._number_of.default_factory = self._number_of.__len__
        self._numbers, self._counts = array("I"), array("I")

    def add(self, terms: Collection[Term]) -> None:
        """Add the terms of the next row."""
        # Called several times for every product: the dictionary numbers new terms without a line of Python.
        self._numbers.extend(map(self._number_of.__getitem__, terms))
        self._counts.append(len(terms))

    def done(self) -> TermRows[Term]:
        """Return the terms of all rows."""
        counts = np.frombuffer(self._counts, dtype=np.uint32)
        rows = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
        return TermRows(list(self._number_of), np.frombuffer(self._numbers, dtype=np.uint32), rows)


def joined_term_rows(parts: Sequence[TermRows[Term]], first_rows: Sequence[int]) -> TermRows[Term]:
    """Return the terms of all parts, whose rows begin at `first_rows`."""
    number_of: defaultdict[Term, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    numbers = []
    for part in parts:
        number = np.fromiter(map(number_of.__getitem__, part.terms), dtype=np.uint32, count=len(part.terms))
        numbers.append(number[part.numbers])
    rows = [part.rows + np.uint32(first) for part, first in zip(parts, first_rows, strict=True)]
    return TermRows(list(number_of), np.concatenate(numbers), np.concatenate(rows))
