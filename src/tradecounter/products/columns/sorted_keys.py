"""Keys in ascending order, found by bisection."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

from tradecounter.products.columns.bytes_column import BytesColumn, encoded


class SortedKeys(Mapping[str, int]):
    """The place of each key in ascending order."""

    __slots__ = ("_keys",)

    def __init__(self, keys: BytesColumn) -> None:
        self._keys = keys

    def place(self, key: str) -> int:
        """Return a key's place, or the place where it would be inserted."""
        return bisect_left(self._keys, encoded(key))

    def span(self, prefix: str) -> tuple[int, int]:
        """Return the first place of the keys with a prefix, and the place after the last."""
        return self.span_encoded(encoded(prefix))

    def span_encoded(self, prefix: bytes) -> tuple[int, int]:
        """Return what `span` does, of a prefix that is encoded."""
        first = bisect_left(self._keys, prefix)
        return first, bisect_left(self._keys, prefix + b"\xff", first)

    def get_encoded(self, key: bytes) -> int | None:
        """Return the place of an encoded key, or None."""
        place = bisect_left(self._keys, key)
        return place if place < len(self._keys) and self._keys[place] == key else None

    def beginnings(self, word: bytes) -> Iterator[tuple[int, int]]:
        """Yield the length and the place of each key that begins an encoded word, without the word itself."""
        first, last = 0, len(self._keys)
        for length in range(1, len(word)):
            beginning = word[:length]
            first = bisect_left(self._keys, beginning, first, last)
            last = bisect_left(self._keys, beginning + b"\xff", first, last)
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
