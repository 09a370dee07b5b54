"""`/api/product`, `/api/price` and `/api/stock/adjustment`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct, structs
from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.desk import NEXT, POST_HEADERS, Desk, Limit, page, text
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.product_wire import (
    AdjustedItem,
    AdjustmentRequest,
    AdjustmentResult,
    ContractCosts,
    ExpectedDelivery,
    ListCosts,
    ListedProduct,
    PriceCandidate,
    ResellerPrice,
    ResellerProduct,
    Stock,
)
from tradecounter.catalogue.queries.lookup import find_product, products_after
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.ordering.back_orders.adjust_stock import AdjustedStock, Adjustment, adjust_stock
from tradecounter.ordering.wire import MOST_UNITS
from tradecounter.pricing.price_of import price_of
from tradecounter.pricing.queries.lookup import contract_prices_of, list_prices_of
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import TEXT, Body, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import json_response
from tradecounter.stock.queries.lookup import deliveries_of, stock_level_of


class ProductListParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `GET /api/product`."""

    query: Annotated[str | None, Meta(description="Part of the SKU or the name, or the EAN.", examples=["CV"])] = None
    after: Annotated[str | None, Meta(description="Only products after this SKU, from the `Link` before.")] = None
    limit: Limit = 100


class PriceParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `GET /api/price`."""

    sku: Annotated[str | None, Meta(description="The product's SKU; required.", examples=["CV-320P"])] = None
    customer_id: Annotated[int, Meta(ge=1, description="The customer's id; required.", examples=[1001])] | None = None
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS, description="Units; 1 by default.", examples=[5])] = 1


@dataclass(frozen=True, slots=True)
class ProductDesk:
    """The endpoints of products, prices and stock."""

    desk: Desk

    @endpoint(
        Operation(
            method="GET",
            path="/api/product",
            name="searchProducts",
            tag="Products",
            summary="Products, active or not, by SKU",
            query=ProductListParameters,
            success=Success(
                200, "The products.", list[ListedProduct], {"List": [examples.LISTED_PRODUCT]}, headers=(NEXT,)
            ),
            scope="catalogue:read",
        )
    )
    async def search_products(self, call: Call) -> Response:
        wanted = call.query(ProductListParameters)
        query, after = text("query", wanted.query) or "", text("after", wanted.after) or ""
        async with self.desk.reading() as tx:
            found = await products_after(tx, query, after, wanted.limit + 1)
        shown = (ListedProduct(p.sku, p.name, p.manufacturer, p.ean, p.active) for p in found[: wanted.limit])
        return page(call, found, wanted.limit, lambda product: product.sku_key, shown)

    @endpoint(
        Operation(
            method="GET",
            path="/api/product/{sku}",
            name="getProduct",
            tag="Products",
            summary="One product with stock, deliveries and all its prices",
            path_parameters=(Parameter("sku", "The product's SKU, in any case.", TEXT, "CV-320P", takes_slashes=True),),
            success=Success(200, "The product.", ResellerProduct, {"Product": examples.PRODUCT}),
            errors=(NOT_FOUND,),
            scope="catalogue:read",
        )
    )
    async def show_product(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            return json_response(await shown_product(tx, call.path_text("sku", "product")))

    @endpoint(
        Operation(
            method="GET",
            path="/api/price",
            name="explainPrice",
            tag="Products",
            summary="A customer's price of a product, and why",
            description="Every candidate in order of precedence, with its own costs before discount; `rule` names the "
            "one that won.",
            query=PriceParameters,
            success=Success(200, "The price.", ResellerPrice, {"Price": examples.PRICE}),
            errors=(NOT_FOUND,),
            scope="prices:read",
        )
    )
    async def explain_price(self, call: Call) -> Response:
        wanted = call.query(PriceParameters)
        sku = text("sku", wanted.sku)
        if not sku:
            raise invalid("sku", "is required")
        if wanted.customer_id is None:
            raise invalid("customer_id", "is required")
        async with self.desk.reading() as tx:
            price = await price_of(tx, wanted.customer_id, sku, wanted.quantity, self.desk.clock.now())
        candidates = [PriceCandidate(**structs.asdict(candidate)) for candidate in price.candidates]
        return json_response(ResellerPrice(**{**structs.asdict(price), "candidates": candidates}))

    @endpoint(
        Operation(
            method="POST",
            path="/api/stock/adjustment",
            name="adjustStock",
            tag="Products",
            summary="Adjust what is on hand",
            description="All items are adjusted, or none. New units go to waiting orders first.",
            request_headers=POST_HEADERS,
            body=Body(AdjustmentRequest, {"AdjustmentRequest": examples.ADJUSTMENT}),
            success=Success(
                200,
                "The stock of each product.",
                AdjustmentResult,
                {"AdjustmentResult": examples.ADJUSTED},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="stock:write",
        )
    )
    async def adjust_stock(self, call: Call) -> Response:
        async def work(tx: Transaction, body: AdjustmentRequest, now: datetime) -> AdjustmentResult:
            wanted = [Adjustment(**structs.asdict(item)) for item in body.items]
            return AdjustmentResult([_adjusted(each) for each in await adjust_stock(tx, wanted, now)])

        return await self.desk.change(call, AdjustmentRequest, work)


async def shown_product(tx: Transaction, sku: str) -> ResellerProduct:
    """Return a product with its stock and every price. Raises DomainError (not found)."""
    found = await find_product(tx, sku)
    product, level = found.record, await stock_level_of(tx, found.record.id)
    return ResellerProduct(
        sku=product.sku,
        name=product.name,
        manufacturer=product.manufacturer,
        ean=product.ean,
        active=product.active,
        weight_kg=product.weight_kg,
        clearance_product=product.clearance_product,
        configurable=found.configurable,
        categories=product.categories,
        stock=Stock(level.on_hand, level.available, level.allocated, level.back_ordered),
        deliveries=[ExpectedDelivery(each.expected_on, each.incoming) for each in await deliveries_of(tx, product.id)],
        prices=[
            ListCosts(p.price_list, p.single_unit_cost, p.five_plus_unit_cost, p.ten_plus_unit_cost)
            for p in await list_prices_of(tx, product.id)
        ],
        contract_prices=[
            ContractCosts(
                p.customer_id,
                p.valid_from,
                p.valid_until,
                p.single_unit_cost,
                p.five_plus_unit_cost,
                p.ten_plus_unit_cost,
            )
            for p in await contract_prices_of(tx, product.id)
        ],
    )


def _adjusted(stock: AdjustedStock) -> AdjustedItem:
    return AdjustedItem(stock.sku, stock.on_hand, stock.available, stock.allocated, stock.back_ordered)
