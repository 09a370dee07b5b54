"""`/api/product`, `/api/price` and `/api/stock/adjustment`, with examples for the interface document."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, structs

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangedSince, Desk, Limit, text
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.days import time_or_start_of
from tradecounter.kit.keys import key_form
from tradecounter.kit.wire import Moment, Timed, made_from
from tradecounter.orders.adjust_stock import AdjustedStock, Adjustment, adjust_stock
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.prices.explain_price import ExplainedPrice, PriceCandidate
from tradecounter.prices.queries.prices_of_products import ContractPrice, ListPrice, contract_prices_of, list_prices_of
from tradecounter.products.find_products import Catalogue, list_products
from tradecounter.products.queries.products import FoundProduct, ProductFilter, Shown, fetch_product, whole_products
from tradecounter.stock.queries.stock import deliveries_of, stock_level_of
from tradecounter.storefront.customer_prices import price_of


class Stock(Struct):
    """A product's units; `on_hand` is `available` and `allocated` together. `location` is empty if unknown."""

    on_hand: int
    available: int
    allocated: int
    back_ordered: int
    location: Annotated[str, Meta(description="The place in the warehouse.")]


class ExpectedDelivery(Timed, Struct):
    """An expected delivery."""

    expected_on: Moment
    incoming: Annotated[int, Meta(description="Units.")]


class ProductImage(Struct):
    """A picture of a product."""

    url: str
    is_primary: bool


class ProductDocument(Struct):
    """A datasheet of a product, or another link."""

    name: str
    url: str


class ListedProduct(Struct, kw_only=True):
    """A product with what imports set."""

    sku: str
    name: str
    manufacturer: Annotated[str, Meta(description="The manufacturer's key.")]
    ean: str | None
    active: Annotated[bool, Meta(description="Whether customers see it.")]
    external_id: Annotated[str | None, Meta(description="Its id in another of your programs.")]
    weight_kg: Decimal
    clearance_product: bool
    configurable: bool
    categories: list[str]
    short_description: str
    description: Annotated[str, Meta(description="Plain text.")]
    description_html: str
    images: list[ProductImage]
    documents: list[ProductDocument]
    attributes: Annotated[dict[str, str], Meta(description="Values by the attributes' keys.")]
    related_products: Annotated[list[str], Meta(description="SKUs, as imported.")]
    similar_products: Annotated[list[str], Meta(description="SKUs, as imported.")]
    store_url: str
    box_width_mm: Decimal
    box_height_mm: Decimal
    box_length_mm: Decimal
    purchase_cost: Annotated[
        Decimal | None, Meta(description="What the reseller pays for a unit; null: unknown. Customers never see it.")
    ]
    consumer_unit_cost: Annotated[Decimal, Meta(description="The recommended retail price without VAT; 0: none.")]


class ResellerProduct(ListedProduct, kw_only=True):
    """A whole product: what imports set, its stock and every price."""

    stock: Stock
    deliveries: list[ExpectedDelivery]
    prices: Annotated[list[ListPrice], Meta(description="On every price list.")]
    contract_prices: Annotated[list[ContractPrice], Meta(description="Of every customer, past and future ones too.")]


class AdjustmentRequest(Struct):
    """Products whose stock is adjusted."""

    items: Annotated[list[Adjustment], Meta(min_length=1, max_length=500)]


class AdjustmentResult(Struct):
    """The stock of the adjusted products."""

    items: list[AdjustedStock]


_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_PRODUCT = ResellerProduct(
    sku="CV-320P",
    name="Convoy 320P desk phone",
    manufacturer="convoy",
    ean="5012345678900",
    active=True,
    external_id="ERP-CV320",
    weight_kg=Decimal("1.1"),
    clearance_product=False,
    configurable=False,
    categories=["desk-phones"],
    short_description="A desk phone with six lines",
    description="Six lines, a colour display and PoE.",
    description_html="<p>Six lines, a colour display and PoE.</p>",
    images=[ProductImage("https://pictures.example/cv-320p.jpg", is_primary=True)],
    documents=[ProductDocument("Datasheet", "https://pictures.example/cv-320p.pdf")],
    attributes={"lines": "6", "poe": "true"},
    related_products=["CV-PSU"],
    similar_products=["CV-445G"],
    store_url="https://shop.example/cv-320p",
    box_width_mm=Decimal(210),
    box_height_mm=Decimal(90),
    box_length_mm=Decimal(230),
    purchase_cost=Decimal("61.20"),
    consumer_unit_cost=Decimal("99.00"),
    stock=Stock(on_hand=120, available=114, allocated=6, back_ordered=0, location="A-03-2"),
    deliveries=[ExpectedDelivery(_AT.replace(month=7), 50)],
    prices=[ListPrice("default", Decimal("82.00"), Decimal("79.00"), Decimal("75.90"))],
    contract_prices=[ContractPrice(1001, date(2026, 1, 1), date(2026, 12, 31), Decimal("70.00"), None, None)],
)

_PRICE = ExplainedPrice(
    sku="CV-320P",
    customer_id=1001,
    quantity=5,
    unit_cost=Decimal("77.03"),
    break_=5,
    rule="default",
    discount=Decimal("2.50"),
    candidates=[
        PriceCandidate(
            rule="default",
            price_list="default",
            valid_from=None,
            valid_until=None,
            single_unit_cost=Decimal("82.00"),
            five_plus_unit_cost=Decimal("79.00"),
            ten_plus_unit_cost=Decimal("75.90"),
            applies=True,
            why="the customer has no price list of its own",
        )
    ],
)


DESCRIBED: Mapping[type, Described] = {
    ListedProduct: Described("The product.", made_from(_PRODUCT, ListedProduct)),
    ResellerProduct: Described("The product.", _PRODUCT, "Product"),
    ExplainedPrice: Described("The price.", _PRICE, "Price"),
    AdjustmentRequest: Described("", AdjustmentRequest([Adjustment(sku="CV-320P", reason="Stocktake", set=120)])),
    AdjustmentResult: Described(
        "The stock of each product.", AdjustmentResult([AdjustedStock("CV-320P", 120, 114, 6, 0)])
    ),
}


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

    sku: Annotated[str, Meta(description="The product's SKU.", examples=["CV-320P"])]
    customer_id: Annotated[int, Meta(ge=1, description="The customer's id.", examples=[1001])]
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS, description="Units; 1 by default.", examples=[5])] = 1


class ProductOperations(Struct, frozen=True):
    """The endpoints of products, prices and stock."""

    desk: Desk
    catalogue: Catalogue

    @_PRODUCTS.lists("/api/product", "The products.")
    async def search_products(self, tx: Transaction, query: ProductListParameters) -> ListPage[ListedProduct]:
        """Products, active or not, by SKU.

        With descriptions, pictures, attributes and cost.
        """
        words, after = text("query", query.query) or "", key_form(text("after", query.after) or "")
        wanted = ProductFilter(
            show=query.show,
            manufacturer=text("manufacturer", query.manufacturer) or None,
            external_id=text("external_id", query.external_id) or None,
            changed_since=time_or_start_of("changed_since", query.changed_since),
            category=text("category", query.category) or None,
        )
        listed_products = await list_products(tx, self.catalogue, words, wanted, after, query.limit + 1)
        whole = await whole_products(tx, [product.sku_key for product in listed_products[: query.limit]])
        return ListPage(listed_products, map(_listed, whole), attrgetter("sku_key"))

    @_PRODUCTS.shows("/api/product/{sku}")
    async def get_product(self, tx: Transaction, sku: Sku) -> ResellerProduct:
        """One whole product.

        With descriptions, pictures, attributes and cost, stock, deliveries and all its prices.
        """
        return await shown_product(tx, await fetch_product(tx, sku))

    @_PRODUCTS.shows("/api/price", errors=(NOT_FOUND,), scope="prices:read")
    async def explain_price(self, tx: Transaction, now: datetime, query: PriceParameters) -> ExplainedPrice:
        """A customer's price of a product, and why.

        Every candidate in order of precedence, with its own costs before discount; `rule` names the one that won.
        """
        return await price_of(tx, query.customer_id, text("sku", query.sku), query.quantity, now)

    @_PRODUCTS.changes("POST", "/api/stock/adjustment", scope="stock:write")
    async def adjust_stock(self, tx: Transaction, now: datetime, body: AdjustmentRequest) -> AdjustmentResult:
        """Adjust what is on hand, and where it is.

        All items are adjusted, or none. New units go to waiting orders first.
        """
        return AdjustmentResult(await adjust_stock(tx, body.items, now))


async def shown_product(tx: Transaction, product: FoundProduct) -> ResellerProduct:
    """Return a product with its stock and every price."""
    product_id = product.record.id
    level = await stock_level_of(tx, product_id)
    return made_from(
        _listed(product),
        ResellerProduct,
        stock=made_from(level, Stock),
        deliveries=[made_from(delivery, ExpectedDelivery) for delivery in await deliveries_of(tx, product_id)],
        prices=await list_prices_of(tx, product_id),
        contract_prices=await contract_prices_of(tx, product_id),
    )


def _listed(product: FoundProduct) -> ListedProduct:
    return msgspec.convert(structs.asdict(product.record) | structs.asdict(product), ListedProduct)
