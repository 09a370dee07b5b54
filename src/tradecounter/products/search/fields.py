"""The terms in the searched fields of products, and the words of the catalogue that are nearest to a mistyped word."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import IntEnum
from itertools import chain

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from pyroaring import BitMap
from pyxdameraulevenshtein import damerau_levenshtein_distance_seqs

from tradecounter.kit.columns.bytes_column import encoded
from tradecounter.kit.columns.lookups import PostingLists, SortedKeys
from tradecounter.products.search.terms import LAST_KIND

Span = tuple[int, int]  # numbers of terms, from the first up to, but not including, the second
Rows = NDArray[np.int32]

_PLACE_BITS = 8
MOST_PLACES = 2**_PLACE_BITS  # tokens of a name that are found


class Field(IntEnum):
    """Where products are found, in the order of results. A code is a SKU or an EAN."""

    CODE = 0
    NAME = 1
    MANUFACTURER = 2
    CATEGORY = 3
    ATTRIBUTE = 4
    TEXT = 5


FIELDS = len(Field)


class FieldIndex(Struct, frozen=True):
    """The rows of the terms that a field has. `numbers` are the terms' in the lexicon, in ascending order."""

    numbers: NDArray[np.int32]
    postings: PostingLists

    @classmethod
    def of(cls, rows_of_term: Mapping[bytes, Sequence[int]], number_of: Mapping[bytes, int]) -> "FieldIndex":
        """Return the index of terms."""
        numbers, lists = _by_number(rows_of_term, number_of)
        return cls(numbers, PostingLists.of(lists))

    def rows(self, spans: Sequence[Span]) -> BitMap:
        """Return the rows of the terms of spans."""
        return self.postings.union_of(_bounds(self.numbers, spans))


class WordOrder(Struct, frozen=True):
    """Where in products' names the terms stand: `keys` combine row and place, in ascending order within a term."""

    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]
    keys: NDArray[np.uint32]

    @classmethod
    def of(cls, keys_of_term: Mapping[bytes, Sequence[int]], number_of: Mapping[bytes, int]) -> "WordOrder":
        """Return the order of terms with their keys (`first_key`)."""
        numbers, lists = _by_number(keys_of_term, number_of)
        starts = np.cumsum([0, *map(len, lists)])
        keys = np.fromiter(chain.from_iterable(map(sorted, lists)), dtype=np.uint32, count=int(starts[-1]))
        return cls(numbers, starts, keys)

    def postings(self) -> PostingLists:
        """Return the rows of each term."""
        rows = self.keys >> _PLACE_BITS
        first = np.ones(len(rows), dtype=bool)
        first[1:] = rows[1:] != rows[:-1]
        first[self.starts[:-1]] = True
        kept = np.concatenate(([0], np.cumsum(first)))
        return PostingLists.packed(rows[first], kept[self.starts])

    def typed(self, rows: Rows, words: Sequence[Sequence[Span]]) -> NDArray[np.bool_]:
        """Return for each row whether its name has the words, each given by its terms, in the order typed."""
        place = rows.astype(np.int64) << _PLACE_BITS
        in_order = np.ones(len(rows), dtype=np.bool_)
        for spans in words:
            keys = self._keys(spans, rows)
            if not len(keys):
                return np.zeros(len(rows), dtype=np.bool_)
            at = np.searchsorted(keys, place.astype(keys.dtype))
            place = keys[np.minimum(at, len(keys) - 1)].astype(np.int64)
            in_order &= (at < len(keys)) & (place >> _PLACE_BITS == rows)
        return in_order

    def following(self, first: Sequence[Span], second: Sequence[Span]) -> Rows:
        """Return the rows, in order, whose names have one of the first terms in the token before one of the second."""
        before, after = self._keys(first), self._keys(second)
        places = np.searchsorted(after, before + 1)
        places[places == len(after)] = 0
        return (before[after[places] == before + 1] >> _PLACE_BITS).astype(np.int32) if len(after) else _NO_ROWS

    def _keys(self, spans: Sequence[Span], rows: Rows | None = None) -> NDArray[np.uint32]:
        """Return the keys of terms, in ascending order; only those of some rows if they are few."""
        bounds = _bounds(self.numbers, spans)
        parts = [self.keys[self.starts[start] : self.starts[end]] for start, end in bounds if start < end]
        if not parts:
            return np.empty(0, dtype=np.uint32)
        keys = np.concatenate(parts)
        if rows is not None and len(rows) < len(keys):
            wanted = np.zeros(max(int(rows[-1]), int(keys.max() >> _PLACE_BITS)) + 1, dtype=np.bool_)
            wanted[rows] = True
            keys = keys[wanted[keys >> _PLACE_BITS]]
        return keys if bounds[0][1] - bounds[0][0] == len(bounds) == 1 else np.sort(keys)


_NO_ROWS = np.empty(0, dtype=np.int32)


def _bounds(numbers: NDArray[np.int32], spans: Sequence[Span]) -> list[Span]:
    """Return where in ascending numbers each span begins and ends."""
    found = numbers.data  # bisecting a memory view takes less than a call of numpy
    return [(bisect_left(found, start), bisect_left(found, end)) for start, end in spans]


def first_key(row: int) -> int:
    """Return the key of the first token of a row's name; those of the others follow."""
    return row << _PLACE_BITS


def _by_number(
    lists: Mapping[bytes, Sequence[int]], number_of: Mapping[bytes, int]
) -> tuple[NDArray[np.int32], list[Sequence[int]]]:
    """Return the numbers of terms in ascending order, and the list of each."""
    numbers = np.fromiter(map(number_of.__getitem__, lists), dtype=np.int32, count=len(lists))
    order = np.argsort(numbers)
    all_lists = list(lists.values())
    return numbers[order], [all_lists[place] for place in order.tolist()]


_ONE_ERROR_FROM = 4  # letters from which one may be wrong, missing, too many or swapped with its neighbour
_TWO_ERRORS_FROM = 8  # letters from which two may
_LONGEST_WORD = 50  # characters of a word that is corrected
_MOST_BYTES_OF_LETTER = 4  # of a character
_MASK_BITS = np.uint8(63)


class NearestWords(Struct, frozen=True):
    """The words of the lexicon in order of their length in bytes, with a bit for each byte that they have."""

    numbers: NDArray[np.int32]
    ends: NDArray[np.int64]  # `ends[n]` is the number of words of fewer than n bytes
    masks: NDArray[np.uint64]

    @classmethod
    def of(cls, lexicon: list[bytes]) -> "NearestWords":
        """Return the words among the terms of a lexicon."""
        lengths = np.fromiter(map(len, lexicon), dtype=np.int64, count=len(lexicon))
        data = np.frombuffer(b"".join(lexicon), dtype=np.uint8)
        starts = np.cumsum(lengths) - lengths
        masks = _byte_masks(data, starts)
        chosen = np.flatnonzero((lengths >= _ONE_ERROR_FROM - 1) & (data[starts] > LAST_KIND))
        numbers = chosen[np.argsort(lengths[chosen], kind="stable")]
        ordered = lengths[numbers]
        ends = np.searchsorted(ordered, np.arange(int(ordered.max(initial=0)) + 2))
        return cls(numbers.astype(np.int32), ends, masks[numbers])

    def candidates(self, word: str, lexicon: SortedKeys) -> list[list[str]]:
        """Return the words that one change leads to, then those that two do; digits stay what they are."""
        letters = sum(character.isalpha() for character in word)
        most = 2 if letters >= _TWO_ERRORS_FROM else 1 if letters >= _ONE_ERROR_FROM else 0
        if not most or len(word) > _LONGEST_WORD:
            return []
        digits = _digits(word)
        near = [near for near in self._alike(word, most, lexicon) if _digits(near) == digits]
        distances = damerau_levenshtein_distance_seqs(word, near)
        return [
            [other for other, distance in zip(near, distances, strict=True) if distance == wanted]
            for wanted in range(1, most + 1)
        ]

    def _alike(self, word: str, most: int, lexicon: SortedKeys) -> list[str]:
        """Return the words whose length and bytes differ little from a word's."""
        own = encoded(word)
        bytes_off = most if word.isascii() else most * _MOST_BYTES_OF_LETTER
        last = len(self.ends) - 1
        start, end = (int(self.ends[min(max(n, 0), last)]) for n in (len(own) - bytes_off, len(own) + bytes_off + 1))
        mask = _byte_masks(np.frombuffer(own, dtype=np.uint8), np.zeros(1, dtype=np.int64))
        off = np.bitwise_count(self.masks[start:end] ^ mask)
        numbers = self.numbers[start:end][off <= 2 * bytes_off]
        return [lexicon.key(number).decode(errors="surrogatepass") for number in numbers.tolist()]


def _byte_masks(data: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a bit for each byte of the words that begin at `starts`."""
    if not len(starts):
        return np.empty(0, dtype=np.uint64)
    masks: NDArray[np.uint64] = np.bitwise_or.reduceat(np.uint64(1) << (data & _MASK_BITS).astype(np.uint64), starts)
    return masks


def _digits(word: str) -> str:
    return "".join(character for character in word if not character.isalpha())
