"""The addresses of the catalogue: the same filters with another category, without one of them, or at another page."""

from collections.abc import Collection, Iterator, Sequence
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import fields

from tradecounter.products.search.query import as_typed
from tradecounter.storefront.facets import ShopParameters

_OF_A_CATEGORY = ("category", "manufacturer", "attribute", "price")
_NOT_KEPT = ("page", "limit", "extra", "accept")


class ShopAddresses(Struct, frozen=True):
    """Addresses of the catalogue at `path` with the filters `wanted`."""

    path: str
    wanted: ShopParameters

    @property
    def all(self) -> str:
        """The catalogue without filters."""
        return self.path

    @property
    def here(self) -> str:
        """The catalogue with these filters, at this page."""
        return self.page(self.wanted.page or 1)

    @property
    def as_typed(self) -> str:
        """The search for the words as they are typed, with the same filters."""
        return self._at([*self._pairs(("query",)), ("query", as_typed(self.wanted.query or ""))])

    def category(self, key: str) -> str:
        """Return the address of a category, or of all; words, stock and order stay as they are."""
        return self._at([*self._pairs(_OF_A_CATEGORY), *([("category", key)] if key else [])])

    def without(self, name: str, value: str) -> str:
        """Return the address without one value of a filter."""
        return self._at([pair for pair in self._pairs() if pair != (name, value)])

    def page(self, number: int) -> str:
        """Return the address of another page."""
        return self._at([*self._pairs(), *([("page", str(number))] if number > 1 else [])])

    def _pairs(self, left_out: Collection[str] = ()) -> Iterator[tuple[str, str]]:
        for field in fields(self.wanted):
            value = getattr(self.wanted, field.name)
            if value and field.encode_name not in {*left_out, *_NOT_KEPT}:
                yield from ((field.encode_name, each) for each in (value if isinstance(value, tuple) else (value,)))

    def _at(self, pairs: Sequence[tuple[str, str]]) -> str:
        return f"{self.path}?{urlencode(pairs)}" if pairs else self.path
