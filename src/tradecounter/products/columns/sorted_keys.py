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
        first = self.place(prefix)
        return first, bisect_left(self._keys, encoded(prefix) + b"\xff", first)

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
