"""The requests and responses of products, prices and stock in the back office."""

from datetime import date
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct, field

from tradecounter.kit.wire import Amount, Moment, Timed
from tradecounter.orders.back_orders.adjust_stock import AdjustedStock, Adjustment

_MOST = 1_000_000_000


class Stock(Struct):
    """A product's units; `on_hand` is `available` and `allocated` together. `location` is empty if unknown."""

    on_hand: int
    available: int
    allocated: int
    back_ordered: int
    location: Annotated[str, Meta(description="The place in the warehouse, from imports of stock.")]


class ExpectedDelivery(Timed, Struct):
    """An expected delivery."""

    expected_on: Moment
    incoming: Annotated[int, Meta(description="Units.")]


class ListCosts(Struct):
    """The prices on a price list; a missing break has the price of the next lower one."""

    price_list: str
    single_unit_cost: Amount
    five_plus_unit_cost: Amount | None
    ten_plus_unit_cost: Amount | None


class ContractCosts(Struct):
    """The prices of one customer, valid up to and including the last day."""

    customer_id: int
    valid_from: date | None
    valid_until: date | None
    single_unit_cost: Amount
    five_plus_unit_cost: Amount | None
    ten_plus_unit_cost: Amount | None


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
    prices: Annotated[list[ListCosts], Meta(description="On every price list.")]
    contract_prices: Annotated[list[ContractCosts], Meta(description="Of every customer, past and future ones too.")]


class PriceCandidate(Struct):
    """A price that was considered, before discount."""

    rule: Annotated[str, Meta(description="`contract`, `price_list` or `default`.")]
    price_list: str | None
    valid_from: date | None
    valid_until: date | None
    single_unit_cost: Amount | None
    five_plus_unit_cost: Amount | None
    ten_plus_unit_cost: Amount | None
    applies: Annotated[bool, Meta(description="Whether it is valid today for this customer and product.")]
    why: Annotated[str, Meta(description="Why it is the price, or is not.")]


class ResellerPrice(Struct):
    """A customer's price of a product, and why."""

    sku: str
    customer_id: int
    quantity: int
    unit_cost: Annotated[Decimal | None, Meta(description="Null: the customer cannot order it.")]
    break_: Annotated[int, Meta(description="The tier of the quantity: 1, 5 or 10.")] = field(name="break")
    rule: Annotated[str | None, Meta(description="The rule that won.")]
    discount: Annotated[Decimal, Meta(description="In per cent; contract prices have none.")]
    candidates: Annotated[list[PriceCandidate], Meta(description="In order of precedence.")]


class AdjustmentRequest(Struct):
    """Products whose stock is adjusted."""

    items: Annotated[list[Adjustment], Meta(min_length=1, max_length=500)]


class AdjustmentResult(Struct):
    """The stock of the adjusted products."""

    items: list[AdjustedStock]
