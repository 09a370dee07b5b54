"""Finds the words of the catalogue that differ from a mistyped word by one or two letters."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from pyxdameraulevenshtein import damerau_levenshtein_distance_seqs

from tradecounter.products.columns.bytes_column import encoded
from tradecounter.products.columns.sorted_keys import SortedKeys
from tradecounter.products.search.terms import LAST_KIND

_ONE_FROM = 4  # letters from which one may be wrong, missing, too many or swapped with its neighbour
_TWO_FROM = 8  # letters from which two may
_LONGEST = 50  # characters of a word that is corrected
_MOST_BYTES = 4  # of a character
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
        masks = _masks(data, starts)
        chosen = np.flatnonzero((lengths >= _ONE_FROM - 1) & (data[starts] > LAST_KIND))
        numbers = chosen[np.argsort(lengths[chosen], kind="stable")]
        ordered = lengths[numbers]
        ends = np.searchsorted(ordered, np.arange(int(ordered.max(initial=0)) + 2))
        return cls(numbers.astype(np.int32), ends, masks[numbers])

    def candidates(self, word: str, lexicon: SortedKeys) -> list[list[str]]:
        """Return the words that one change leads to, then those that two do; digits stay what they are."""
        letters = sum(character.isalpha() for character in word)
        most = 2 if letters >= _TWO_FROM else 1 if letters >= _ONE_FROM else 0
        if not most or len(word) > _LONGEST:
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
        bytes_off = most if word.isascii() else most * _MOST_BYTES
        last = len(self.ends) - 1
        start, end = (int(self.ends[min(max(n, 0), last)]) for n in (len(own) - bytes_off, len(own) + bytes_off + 1))
        mask = _masks(np.frombuffer(own, dtype=np.uint8), np.zeros(1, dtype=np.int64))
        off = np.bitwise_count(self.masks[start:end] ^ mask)
        numbers = self.numbers[start:end][off <= 2 * bytes_off]
        return [lexicon.key(number).decode(errors="surrogatepass") for number in numbers.tolist()]


def _masks(data: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a bit for each byte of the words that begin at `starts`."""
    if not len(starts):
        return np.empty(0, dtype=np.uint64)
    masks: NDArray[np.uint64] = np.bitwise_or.reduceat(np.uint64(1) << (data & _MASK_BITS).astype(np.uint64), starts)
    return masks


def _digits(word: str) -> str:
    return "".join(character for character in word if not character.isalpha())
