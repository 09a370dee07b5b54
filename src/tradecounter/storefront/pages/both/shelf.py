"""What the catalogue shows of a customer's view, by the filters of a request."""

from typing import Any

from msgspec import Struct

from tradecounter.edge.page_kit.forms import Filled, query_values
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError
from tradecounter.storefront.drawings import kind_of
from tradecounter.storefront.facets import Shelf, ShopParameters
from tradecounter.storefront.pages.both.addresses import ShopAddresses
from tradecounter.storefront.shown_product import shown_products
from tradecounter.storefront.view import CustomerView

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
        asked = Shelf(view, wanted)
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
