"""`GET /category`, `GET /manufacturer` and `GET /attribute`."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import Operation, Success, endpoint
from tradecounter.edge.rest.responses import json_response
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.wire import ATTRIBUTES, CATEGORIES, MANUFACTURERS, Category, Manufacturer, ProductAttribute


class CatalogueEndpoints(Struct, frozen=True):
    """Endpoints of the reference data; `snapshot` returns the current snapshot."""

    snapshot: Callable[[], CatalogueSnapshot]

    @endpoint(
        Operation(
            method="GET",
            path="/category",
            name="listCategories",
            key_scopes=("read",),
            tag="Catalogue",
            summary="The category tree",
            description="Use names or keys in the `category` filter of `GET /product`.",
            success=Success(200, "Top-level categories with their children.", list[Category], {"List": CATEGORIES}),
            cacheable=True,
        )
    )
    async def list_categories(self, call: Call) -> Response:
        return self._conditional(call, lambda snapshot: snapshot.category_tree)

    @endpoint(
        Operation(
            method="GET",
            path="/manufacturer",
            name="listManufacturers",
            key_scopes=("read",),
            tag="Catalogue",
            summary="Manufacturers by name",
            description="Use keys in the `manufacturer` filter of `GET /product`.",
            success=Success(200, "All manufacturers.", list[Manufacturer], {"List": MANUFACTURERS}),
            cacheable=True,
        )
    )
    async def list_manufacturers(self, call: Call) -> Response:
        return self._conditional(call, lambda snapshot: snapshot.manufacturer_list)

    @endpoint(
        Operation(
            method="GET",
            path="/attribute",
            name="listAttributes",
            key_scopes=("read",),
            tag="Catalogue",
            summary="Attributes, their types and values",
            description="Use keys or names in the `attribute` filter of `GET /product`.",
            success=Success(200, "All attributes.", list[ProductAttribute], {"List": ATTRIBUTES}),
            cacheable=True,
        )
    )
    async def list_attributes(self, call: Call) -> Response:
        return self._conditional(call, lambda snapshot: snapshot.attribute_list)

    def _conditional(self, call: Call, of: Callable[[CatalogueSnapshot], Any]) -> Response:
        snapshot = self.snapshot()
        return conditional_response(call, snapshot.digest, JSON, lambda: json_response(of(snapshot)))
