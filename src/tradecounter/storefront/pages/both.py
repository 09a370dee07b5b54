"""The catalogue as its pages show it: the products that a request's filters find, and addresses with other filters."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import fields, replace

from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError
from tradecounter.kit.text import trimmed
from tradecounter.products.search.query import as_typed
from tradecounter.storefront.facets import Shelf, ShopParameters
from tradecounter.storefront.shown_product import kind_of, shown_products
from tradecounter.storefront.view import CustomerView

_OF_A_CATEGORY = ("category", "manufacturer", "attribute", "price")
_NOT_KEPT = ("page", "limit", "extra", "accept")


class ShopAddresses(Struct, frozen=True):
    """Addresses of the catalogue, which is at `path`, with the filters `wanted`."""

    path: str
    wanted: ShopParameters

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


_ON_A_PAGE = 24
_SORTS = (
    ("name", "By name"),
    ("price", "Lowest price"),
    ("availability", "Most in stock"),
    ("sku", "By SKU"),
)


class PageOf(Struct, frozen=True):
    """Which of the products a page shows; numbers count from 1."""

    number: int
    total: int

    @classmethod
    def of(cls, wanted: int | None, total: int) -> "PageOf":
        """Return the page that is wanted, or the last one."""
        return cls(min(wanted or 1, max(1, -(-total // _ON_A_PAGE))), total)

    @property
    def rows(self) -> slice:
        """The places of its products."""
        return slice((self.number - 1) * _ON_A_PAGE, self.number * _ON_A_PAGE)

    @property
    def last(self) -> int:
        """The number of the last page."""
        return max(1, -(-self.total // _ON_A_PAGE))


def shown_shelf(call: Call, view: CustomerView, address: str) -> dict[str, Any]:
    """Return what the template of the catalogue at an address needs; with wrong filters, all products and the errors.

    The query of the request is `ShopParameters`.
    """
    filled = Filled(query_values(call.raw_query))
    shelf = Shelf(view, ShopParameters())
    try:
        wanted = call.query(ShopParameters)
        asked = Shelf(view, replace(wanted, query=trimmed(wanted.query or "") or None))
        _ = asked.found  # finds what is wrong with the filters
        shelf = asked
    except DomainError as error:
        filled = filled.with_error(error)
    place = PageOf.of(shelf.wanted.page, len(shelf.found))
    return {
        "form": filled,
        "shelf": shelf,
        "products": shown_products(view, shelf.found[place.rows].tolist()),
        "place": place,
        "sorts": _SORTS,
        "addresses": ShopAddresses(address, shelf.wanted),
        "is_start": not any(value for values in filled.values.values() for value in values),
        "kind_of": kind_of,
    }
