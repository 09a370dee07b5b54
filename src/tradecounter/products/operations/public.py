"""`GET /category`, `GET /manufacturer`, `GET /attribute`, and `GET /picture/{name}`, which may be cached for ever."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.page_kit.page import page_endpoint
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.responses import json_response
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.products.picture_addresses import PICTURE_NAME
from tradecounter.products.queries.pictures import content_of, find_media_type
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


_OK = 200
_PICTURE_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Vary": "Accept-Encoding",
}


class PictureEndpoints(Struct, frozen=True):
    """The addresses of pictures."""

    database: Database

    @page_endpoint("/picture/{name}", "A picture of a product")
    async def show_picture(self, call: Call) -> Response:
        match = PICTURE_NAME.fullmatch(call.path("name"))
        if match is None:
            raise _unknown_picture()
        digest = match["digest"]
        async with reading(self.database) as tx:
            media_type = await find_media_type(tx, digest)
            if media_type is None:
                raise _unknown_picture()
            response = conditional_response(call, bytes.fromhex(digest), media_type, Response)
            if response.status_code == _OK:
                response.body = await content_of(tx, digest)
                response.headers["Content-Length"] = str(len(response.body))
        response.headers["Content-Type"] = media_type
        for name, value in _PICTURE_HEADERS.items():
            response.headers[name] = value
        return response


def _unknown_picture() -> DomainError:
    return DomainError(Kind.NOT_FOUND, "there is no such picture")
