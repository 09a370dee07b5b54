"""The requests and responses of products, prices and stock in the back office."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.kit.wire import Moment, Timed
from tradecounter.orders.adjust_stock import AdjustedStock, Adjustment
from tradecounter.prices.queries.prices_of_products import ContractPrice, ListPrice


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
