"""`/api/product`, `/api/price` and `/api/stock/adjustment`."""

from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any

from msgspec import Meta, Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangedSince, Desk, Limit, text
from tradecounter.edge.operations.subject import InPath, Listed, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.days import time_or_start_of
from tradecounter.kit.errors import invalid
from tradecounter.orders.back_orders.adjust_stock import adjust_stock
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.prices.explain_price import ExplainedPrice, price_of
from tradecounter.prices.queries.prices_of_product import contract_prices_of, list_prices_of
from tradecounter.products.find_products import Catalogue, list_products
from tradecounter.products.operations.examples import DESCRIBED
from tradecounter.products.operations.wire import (
    AdjustmentRequest,
    AdjustmentResult,
    ExpectedDelivery,
    ListedProduct,
    ProductDocument,
    ProductImage,
    ResellerProduct,
    Stock,
)
from tradecounter.products.queries.by_sku import FoundProduct, fetch_product, whole_products
from tradecounter.products.queries.product_list import ProductFilter, Shown
from tradecounter.stock.queries.stock_of_product import deliveries_of, stock_level_of

_PRODUCTS = Subject(tag="Products", read="catalogue:read", described=DESCRIBED)

Sku = Annotated[str, InPath("sku", "The product's SKU, in any case.", "CV-320P", "product", takes_slashes=True)]


class ProductListParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `GET /api/product`."""

    query: Annotated[
        str | None,
        Meta(
            description="Words, found as `GET /product` of customers finds them, or a part of the SKU.", examples=["CV"]
        ),
    ] = None
    manufacturer: Annotated[
        str | None, Meta(description="Only those of this manufacturer, by its key or its name.", examples=["corvane"])
    ] = None
    category: Annotated[
        str | None,
        Meta(description="Only those of this category and of those below it, by its key or its name."),
    ] = None
    show: Annotated[
        Shown | None,
        Meta(
            description="Only these products. `out_of_stock` and `without_price` are sold, but have no unit available, "
            "or are on no price list; `below_cost` has a price in a list that is lower than the purchase cost. "
            "Orders wait for those that are `back_ordered`. The others lack what they say, and are sold.",
            examples=["sold"],
        ),
    ] = None
    external_id: Annotated[str | None, Meta(description="Only the product with this external id.")] = None
    changed_since: ChangedSince = None
    after: Annotated[str | None, Meta(description="Only products after this SKU, from the `Link` before.")] = None
    limit: Limit = 100


class PriceParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `GET /api/price`."""

    sku: Annotated[str | None, Meta(description="The product's SKU; required.", examples=["CV-320P"])] = None
    customer_id: Annotated[int, Meta(ge=1, description="The customer's id; required.", examples=[1001])] | None = None
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS, description="Units; 1 by default.", examples=[5])] = 1


class ProductOperations(Struct, frozen=True):
    """The endpoints of products, prices and stock."""

    desk: Desk
    catalogue: Catalogue

    @_PRODUCTS.lists("/api/product", "The products.")
    async def search_products(self, tx: Transaction, query: ProductListParameters) -> Listed[ListedProduct]:
        """Products, active or not, by SKU.

        With descriptions, pictures, attributes and cost.
        """
        words, after = text("query", query.query) or "", text("after", query.after) or ""
        manufacturer, external_id = text("manufacturer", query.manufacturer), text("external_id", query.external_id)
        changed_since = time_or_start_of("changed_since", query.changed_since)
        category = text("category", query.category)
        wanted = ProductFilter(manufacturer or None, query.show, external_id or None, changed_since, category or None)
        found = await list_products(tx, self.catalogue, words, wanted, after, query.limit + 1)
        whole = await whole_products(tx, [product.sku_key for product in found[: query.limit]])
        return Listed(found, (ListedProduct(**_own_fields(each)) for each in whole), attrgetter("sku_key"))

    @_PRODUCTS.shows("/api/product/{sku}")
    async def get_product(self, tx: Transaction, sku: Sku) -> ResellerProduct:
        """One whole product.

        With descriptions, pictures, attributes and cost, stock, deliveries and all its prices.
        """
        return await shown_product(tx, sku)

    @_PRODUCTS.shows("/api/price", errors=(NOT_FOUND,), scope="prices:read")
    async def explain_price(self, tx: Transaction, now: datetime, query: PriceParameters) -> ExplainedPrice:
        """A customer's price of a product, and why.

        Every candidate in order of precedence, with its own costs before discount; `rule` names the one that won.
        """
        sku = text("sku", query.sku)
        if not sku:
            raise invalid("sku", "is required")
        if query.customer_id is None:
            raise invalid("customer_id", "is required")
        return await price_of(tx, query.customer_id, sku, query.quantity, now)

    @_PRODUCTS.changes("POST", "/api/stock/adjustment", errors=(NOT_FOUND,), scope="stock:write")
    async def adjust_stock(self, tx: Transaction, now: datetime, body: AdjustmentRequest) -> AdjustmentResult:
        """Adjust what is on hand, and where it is.

        All items are adjusted, or none. New units go to waiting orders first.
        """
        return AdjustmentResult(await adjust_stock(tx, body.items, now))


async def shown_product(tx: Transaction, sku: str) -> ResellerProduct:
    """Return a product with its stock and every price. Raises DomainError (not found)."""
    found = await fetch_product(tx, sku)
    product_id = found.record.id
    level = await stock_level_of(tx, product_id)
    return ResellerProduct(
        **_own_fields(found),
        stock=Stock(level.on_hand, level.available, level.allocated, level.back_ordered, level.location),
        deliveries=[ExpectedDelivery(each.expected_on, each.incoming) for each in await deliveries_of(tx, product_id)],
        prices=await list_prices_of(tx, product_id),
        contract_prices=await contract_prices_of(tx, product_id),
    )


def _own_fields(found: FoundProduct) -> dict[str, Any]:
    product = found.record
    return {
        "sku": product.sku,
        "name": product.name,
        "manufacturer": product.manufacturer,
        "ean": product.ean,
        "active": product.active,
        "external_id": found.external_id,
        "weight_kg": product.weight_kg,
        "clearance_product": product.clearance_product,
        "configurable": found.configurable,
        "categories": product.categories,
        "short_description": product.short_description,
        "description": product.description,
        "description_html": product.description_html,
        "images": [ProductImage(**image) for image in product.images],
        "documents": [ProductDocument(**document) for document in product.documents],
        "attributes": product.attributes,
        "related_products": product.related_products,
        "similar_products": product.similar_products,
        "store_url": product.store_url,
        "box_width_mm": product.box_width_mm,
        "box_height_mm": product.box_height_mm,
        "box_length_mm": product.box_length_mm,
        "purchase_cost": found.purchase_cost,
        "consumer_unit_cost": product.consumer_unit_cost,
    }
