"""`GET /product`, `GET /product/{sku}` and `GET /catalogue/change`."""

import asyncio
from collections.abc import Collection, Iterable
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta, Struct, field
from starlette.responses import Response

from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.edge.rest.headers import CONTENT_DISPOSITION, CORRECTED, CURSOR, PAGING, UNKNOWN_SKU
from tradecounter.edge.rest.negotiation import CSV, JSON, Format, attachment, choose_format
from tradecounter.edge.rest.operation import (
    TEXT,
    ErrorResponse,
    Link,
    Operation,
    Parameter,
    Sample,
    Success,
    csv_media,
    endpoint,
)
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE, DEFAULT_LIMIT, MOST_ON_A_PAGE, Page, linked, note_page
from tradecounter.edge.rest.parameters import header_value
from tradecounter.edge.rest.responses import ChunkedResponse
from tradecounter.kit import csv_text
from tradecounter.kit.errors import Code, DomainError, Kind, invalid, not_found
from tradecounter.products.wire import DESCRIBED_PRODUCT, PRODUCT, PRODUCTS_CSV, Product
from tradecounter.storefront.changes.cursor import expired_cursor
from tradecounter.storefront.changes.follow import ChangeFeed
from tradecounter.storefront.find_in_view import ProductListParameters, ProductParameters, find_products
from tradecounter.storefront.render import EXTRA_FIELDS, product_json, render_csv, render_json
from tradecounter.storefront.storefront import RefreshableViews
from tradecounter.storefront.view import CustomerView

LIST_PATH, ONE_PATH = "/product", "/product/{sku}"
VIEW = "tradecounter.view"  # in the ASGI scope: the customer's view, if the fast path has read it


class ProductEndpoints(Struct, frozen=True):
    """The product endpoints; they respond from memory."""

    views: RefreshableViews
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # shared by all long responses

    @endpoint(
        Operation(
            method="GET",
            path=LIST_PATH,
            name="listProducts",
            key_scopes=("read",),
            tag="Catalogue",
            summary="List products at your prices",
            description=(
                "Active products that you can buy, with your prices and live stock. Without an `Accept` header the "
                "response is CSV; send `Accept: application/json` for JSON. CSV without `page` and `limit` is the "
                "whole catalogue. " + COUNTED_BY_SIZE
            ),
            query=ProductListParameters,
            success=Success(
                200,
                "The products of one page.",
                list[Product],
                {"List": [PRODUCT]},
                {CSV: csv_media(PRODUCTS_CSV)},
                headers=(*PAGING, CORRECTED, CURSOR, UNKNOWN_SKU, CONTENT_DISPOSITION),
            ),
            # The response is short for a catalogue with phones, and empty for other catalogues.
            sample=Sample({"category": "desk-phones", "inStock": "true", "sort": "price", "limit": "3"}),
            cacheable=True,
        )
    )
    async def list_products(self, call: Call) -> Response:
        return linked(call, self.list_in(await self._view(call), call))

    def list_in(self, view: CustomerView, call: Call) -> Response:
        """Return the products that a request asks for, without `Link`. Raises DomainError (invalid)."""
        parameters = call.query(ProductListParameters)
        extras = extra_fields(parameters.extra)
        media = choose_format(call.accept, parameters.accept)
        response = conditional_response(
            call, view.digest, media, lambda: self._products(call, view, parameters, extras, media), parameters
        )
        return _with_cursor(response, view)

    @endpoint(
        Operation(
            method="GET",
            path=ONE_PATH,
            name="getProduct",
            key_scopes=("read",),
            tag="Catalogue",
            summary="One product",
            description="The SKU can contain any characters, percent-encoded (`/` as `%2F`); case does not matter.",
            path_parameters=(
                Parameter(
                    "sku",
                    "The product's SKU, in upper or lower case, percent-encoded.",
                    TEXT,
                    "CV-320P",
                    takes_slashes=True,
                ),
            ),
            query=ProductParameters,
            success=Success(
                200,
                "The product, with its descriptions.",
                Product,
                {"A product": DESCRIBED_PRODUCT},
                headers=(CURSOR,),
            ),
            errors=(NOT_FOUND,),
            links=(Link("listProducts", "One of the products, by its SKU.", {"sku": "$response.body#/0/sku"}),),
            cacheable=True,
        )
    )
    async def show_product(self, call: Call) -> Response:
        return self.show_in(await self._view(call), call, call.path("sku"))

    def show_in(self, view: CustomerView, call: Call, sku: str) -> Response:
        """Return a product of a customer's view. Raises DomainError (invalid, not found)."""
        parameters = call.query(ProductParameters)
        extras = {"description", "short_description", *extra_fields(parameters.extra)}
        response = conditional_response(call, view.digest, JSON, lambda: _one_product(view, sku, extras), parameters)
        return _with_cursor(response, view)

    async def _view(self, call: Call) -> CustomerView:
        view: CustomerView | None = call.request.scope.get(VIEW)
        return await self.views.of(call.customer_id) if view is None else view

    def _products(
        self, call: Call, view: CustomerView, parameters: ProductListParameters, extras: set[str], media: Format
    ) -> Response:
        rows = find_products(view, parameters)
        headers = {CORRECTED.name: corrections} if (corrections := _corrections(rows.corrected)) else {}
        headers |= {UNKNOWN_SKU.name: header_value(rows.unknown)} if rows.unknown else {}
        whole = media == CSV and parameters.page is None and parameters.limit is None
        limit = DEFAULT_LIMIT if parameters.limit is None else parameters.limit
        page = Page(parameters.page or 1, 0 if whole else limit)
        start, end = page.bounds(len(rows))
        headers |= note_page(call, page, len(rows)) | attachment(call.accept, media, "products")
        chunks = (render_csv if media == CSV else render_json)(view, rows[start:end], extras)
        media_type = csv_text.MEDIA_TYPE if media == CSV else JSON
        if end - start <= MOST_ON_A_PAGE:
            return Response(b"".join(chunks), headers=headers, media_type=media_type)
        return ChunkedResponse(chunks, self.lock, headers=headers, media_type=media_type)


def _with_cursor(response: Response, view: CustomerView) -> Response:
    """Return a response that shows a view with the place from which the change feed goes on."""
    if view.cursor is not None:
        response.headers[CURSOR.name] = view.cursor.decode()
    return response


def _corrections(corrected: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{quote(typed, safe='')}={quote(read, safe='')}" for typed, read in corrected)


def _one_product(view: CustomerView, sku: str, extras: set[str]) -> Response:
    product = view.find(sku)
    if product is None:
        raise DomainError(Kind.NOT_FOUND, not_found("product", sku).message + view.suggestion(sku))
    return Response(product_json(view, *product, extras), media_type=JSON)


def extra_fields(names: Collection[str]) -> set[str]:
    """Return the fields for the values of `extra`. Raises DomainError (invalid) for an unknown value."""
    # No name contains a comma, so a percent-encoded comma separates names too.
    parts = [part.strip() for name in names for part in name.split(",") if part.strip()]
    unknown = [part for part in parts if part not in EXTRA_FIELDS]
    if unknown:
        raise invalid("extra", f"{unknown[0]!r} is not one of {', '.join(EXTRA_FIELDS)}")
    return {EXTRA_FIELDS[part] for part in parts}


class CatalogueChange(Struct):
    """A product that differs from your copy, or that your copy must not have any more."""

    sku: Annotated[str, Meta(description="The product's SKU.")]
    change: Annotated[
        str,
        Meta(
            description="`changed`: store the product, which may be new. `removed`: delete it; you cannot buy it now, "
            "or its SKU is spelled in other case now, and `changed` follows.",
            examples=["changed"],
            extra_json_schema={"enum": ["changed", "removed"]},
        ),
    ]
    product: Annotated[Product | None, Meta(description="The whole product, as `GET /product` lists it; or null.")]


CURSOR_EXPIRED = ErrorResponse(
    410,
    "The cursor has expired, or the database was replaced: read the catalogue again, and go on from the `X-Cursor` "
    "of the first response.",
    expired_cursor().message,
    name="CursorExpired",
    code=Code.CURSOR_EXPIRED,
)
_CHANGES = Described(
    "The changes.",
    [CatalogueChange("CV-320P", "changed", PRODUCT), CatalogueChange("CV-310", "removed", None)],
    "Changes",
)
_CHANGE_FEED = Subject(tag="Catalogue", keys=("read",))


class ChangeParameters(Struct, frozen=True):
    """The query parameters of `GET /catalogue/change`."""

    after: Annotated[
        Annotated[str, Meta(max_length=4_000)] | None,
        Meta(
            description="The `X-Cursor` of an earlier response. Without it, or empty, the response has no changes, "
            "only a cursor, which what changes from now on follows.",
            examples=[""],
        ),
    ] = None
    limit: Annotated[
        int, Meta(ge=1, le=500, description="Products per response: 100 by default, at most 500.", examples=[100])
    ] = 100
    wait: Annotated[
        int,
        Meta(
            ge=0, le=20, description="Seconds to wait while there is no change; 0 by default, at most 20.", examples=[0]
        ),
    ] = 0


class ChangeEndpoints(Struct, frozen=True):
    """The endpoint of the change feed; it responds from memory."""

    feed: ChangeFeed

    @_CHANGE_FEED.shows(
        "/catalogue/change", _CHANGES, headers=(CURSOR,), errors=(CURSOR_EXPIRED,), sample=Sample({"limit": "100"})
    )
    async def list_catalogue_changes(self, call: Call, query: ChangeParameters) -> list[CatalogueChange] | Response:
        """What has changed in your catalogue.

        Products that differ from your copy: their details, your prices, stock or expected deliveries have changed, they
        are new, or you cannot buy them any more. Apply the changes in their order, store `X-Cursor` with your copy, and
        send it as `after` with the next request; go on until the response is empty. A product may be sent again
        although it is as you have it. With `wait`, a request without a change gets its response as soon as there is
        one.
        """
        if not query.after:
            page = await self.feed.start(call.customer_id)
        else:
            page = await self.feed.page(call.customer_id, query.after, query.limit, query.wait)
        return Response(page.body, media_type=JSON, headers={CURSOR.name: page.cursor.decode()})
