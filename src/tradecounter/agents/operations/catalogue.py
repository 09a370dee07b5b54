"""The tools that find products and read their details."""

from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.agents.operations.tools import Caller, tool
from tradecounter.kit.errors import named_by
from tradecounter.kit.json_text import to_json
from tradecounter.products.wire import Product
from tradecounter.storefront.find_in_view import ProductListParameters, Sort, find_products
from tradecounter.storefront.render import product_json, render_json
from tradecounter.storefront.storefront import RefreshableViews

_MOST = 50
_MOST_CHOICES = 100
_CALLED = {"category": "categories", "manufacturer": "manufacturers", "attribute": "attributes"}
_DETAILS = frozenset({"description", "short_description", "related_products", "similar_products"})
Choice = Annotated[str, Meta(max_length=500)]


class SearchProducts(Struct):
    """What to look for; products match all that is given."""

    query: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        Meta(description="Words of the product, or a SKU or an EAN.", examples=["ip phone"]),
    ] = None
    categories: Annotated[
        list[Choice], Meta(max_length=_MOST_CHOICES, description="Names or keys; a parent includes its children.")
    ] = []
    manufacturers: Annotated[list[Choice], Meta(max_length=_MOST_CHOICES, description="Keys of manufacturers.")] = []
    attributes: Annotated[
        list[Choice],
        Meta(
            max_length=_MOST_CHOICES,
            description="Filters `name<op>value` with =, or for numbers <, >, <=, >=.",
            examples=[["poe=true"]],
        ),
    ] = []
    in_stock: Annotated[bool, Meta(description="Only products in stock.")] = False
    sort: Annotated[Sort | None, Meta(description="By default the most relevant first.")] = None
    page: Annotated[int, Meta(ge=1, le=100_000, description="The page, from 1 on.")] = 1
    limit: Annotated[int, Meta(ge=1, le=_MOST, description=f"Products per page, at most {_MOST}.")] = 10


class FoundProducts(Struct):
    """Products at the customer's prices, with live stock."""

    total: Annotated[int, Meta(description="How many products match.")]
    products: Annotated[list[Product], Meta(description="The products of the page.")]
    corrected: Annotated[
        dict[str, str],
        Meta(
            description="Words of `query` that no product has, with the words as which they were read. Tell the person."
        ),
    ] = {}


class GetProducts(Struct):
    """Products by their SKUs."""

    skus: Annotated[list[str], Meta(min_length=1, max_length=_MOST, description="SKUs, in upper or lower case.")]


class ProductsBySku(Struct):
    """Products with their descriptions, and which SKUs the customer cannot buy."""

    products: Annotated[list[Product], Meta(description="The products, in the order of the SKUs.")]
    unknown: Annotated[list[str], Meta(description="The SKUs that the customer cannot buy.")]


class CatalogueTools(Struct, frozen=True):
    """The tools that read the catalogue; they respond from memory."""

    views: RefreshableViews

    @tool("Search products", "read", gives=FoundProducts)
    async def search_products(self, caller: Caller, request: SearchProducts) -> bytes:
        """Find products in the customer's catalogue.

        Prices are in pounds without VAT: `single_unit_cost` for 1 to 4 units of a line, `five_plus_unit_cost` for 5 to
        9, `ten_plus_unit_cost` from 10 on. `availability` says what is in stock. A mistyped word is read as the nearest
        one, which `corrected` says; in quotation marks, a word is not replaced.
        """
        view = await self.views.of(caller.customer_id)
        parameters = ProductListParameters(
            query=request.query,
            category=tuple(request.categories),
            manufacturer=tuple(request.manufacturers),
            attribute=tuple(request.attributes),
            in_stock="true" if request.in_stock else None,
            sort=request.sort,
        )
        with named_by(lambda name: _CALLED.get(name, name)):
            rows = find_products(view, parameters)
        start = (request.page - 1) * request.limit
        products = b"".join(render_json(view, rows[start : start + request.limit]))
        corrected = to_json(dict(rows.corrected))
        return b'{"total":%d,"corrected":%b,"products":%b}' % (len(rows), corrected, products)

    @tool("Get products", "read", gives=ProductsBySku)
    async def get_products(self, caller: Caller, request: GetProducts) -> ProductsBySku:
        """Read products by SKU, with descriptions, attributes, and the SKUs of related and similar products."""
        view = await self.views.of(caller.customer_id)
        skus = list(dict.fromkeys(request.skus))
        product_of_sku = {sku: view.find(sku) for sku in skus}
        products = [Raw(product_json(view, *each, _DETAILS)) for each in product_of_sku.values() if each is not None]
        return ProductsBySku(products, [sku for sku, each in product_of_sku.items() if each is None])  # type: ignore[arg-type]
