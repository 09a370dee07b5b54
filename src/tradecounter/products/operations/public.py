"""`GET /category`, `GET /manufacturer` and `GET /attribute`."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.responses import json_response
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.wire import ATTRIBUTES, CATEGORIES, MANUFACTURERS, Category, Manufacturer, ProductAttribute

_CATALOGUE = Subject(tag="Catalogue", keys=("read",))
_CATEGORIES = Described("Top-level categories with their children.", CATEGORIES, "List")
_MANUFACTURERS = Described("All manufacturers.", MANUFACTURERS, "List")
_ATTRIBUTES = Described("All attributes.", ATTRIBUTES, "List")


class CatalogueEndpoints(Struct, frozen=True):
    """Endpoints of the reference data; `snapshot` returns the current snapshot."""

    snapshot: Callable[[], CatalogueSnapshot]

    @_CATALOGUE.shows("/category", _CATEGORIES, cacheable=True)
    async def list_categories(self, call: Call) -> list[Category] | Response:
        """The category tree.

        Use names or keys in the `category` filter of `GET /product`.
        """
        return self._conditional(call, lambda snapshot: snapshot.category_tree)

    @_CATALOGUE.shows("/manufacturer", _MANUFACTURERS, cacheable=True)
    async def list_manufacturers(self, call: Call) -> list[Manufacturer] | Response:
        """Manufacturers by name.

        Use keys in the `manufacturer` filter of `GET /product`.
        """
        return self._conditional(call, lambda snapshot: snapshot.manufacturer_list)

    @_CATALOGUE.shows("/attribute", _ATTRIBUTES, cacheable=True)
    async def list_attributes(self, call: Call) -> list[ProductAttribute] | Response:
        """Attributes, their types and values.

        Use keys or names in the `attribute` filter of `GET /product`.
        """
        return self._conditional(call, lambda snapshot: snapshot.attribute_list)

    def _conditional(self, call: Call, of: Callable[[CatalogueSnapshot], Any]) -> Response:
        snapshot = self.snapshot()
        return conditional_response(call, snapshot.digest, JSON, lambda: json_response(of(snapshot)))
