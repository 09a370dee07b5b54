"""The catalogue's resources as they stand on the wire (specification, section 2)."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.rest.wire import Amount, LocalDateTime


class ProductImage(Struct):
    """A picture of a product."""

    is_primary: bool
    url: str


class ProductIncomingStock(Struct):
    """Units on an expected delivery."""

    incoming: int
    expected_on: LocalDateTime


class ProductAvailability(Struct):
    """Stock of a product; expected deliveries are shown to trade accounts."""

    available: Annotated[int, Meta(ge=0, description="Units in stock.")]
    status: Annotated[str, Meta(description="A label: In stock, Low stock, On order, Out of stock; more may come.")]
    incoming: list[ProductIncomingStock]


class Product(Struct):
    """A product at the calling customer's prices."""

    sku: str
    ean: Annotated[str | None, Meta(description="Normally an EAN of 13 digits.")]
    name: str
    manufacturer: Annotated[str, Meta(description="The manufacturer's key.")]
    weight_kg: Annotated[Decimal, Meta(description="Kilograms, boxed; 0 when unknown.")]
    box_width_mm: Decimal
    box_height_mm: Decimal
    box_length_mm: Decimal
    clearance_product: Annotated[bool, Meta(description="Reduced or refurbished.")]
    images: list[ProductImage]
    availability: ProductAvailability
    single_unit_cost: Annotated[Amount, Meta(description="Net price of one unit.")]
    five_plus_unit_cost: Annotated[Amount, Meta(description="Net unit price from five units.")]
    ten_plus_unit_cost: Annotated[Amount, Meta(description="Net unit price from ten units.")]
    consumer_unit_cost: Annotated[Amount, Meta(description="Recommended retail price; 0 when there is none.")]
    store_url: str
    categories: Annotated[list[str], Meta(description="Category keys.")]
    attributes: Annotated[dict[str, str], Meta(description="Attribute names and values.")]
    description: str | UnsetType = UNSET
    description_html: str | UnsetType = UNSET
    short_description: str | UnsetType = UNSET
    related_products: Annotated[list[str], Meta(description="SKUs.")] | UnsetType = UNSET
    similar_products: Annotated[list[str], Meta(description="SKUs.")] | UnsetType = UNSET


class Category(Struct):
    """A category; the tree is at most two levels deep."""

    key: str
    name: str
    children: list["Category"] | None


class Manufacturer(Struct):
    """A manufacturer; its key goes into the `manufacturer` filter."""

    key: str
    name: str


class AttributeValue(Struct):
    """One value that products have for an attribute."""

    value: str


AttributeType = Literal["boolean", "string", "int"]


class Attribute(Struct):
    """An attribute; its key or name goes into the `attribute` filter."""

    key: str
    name: str
    type: AttributeType
    possible_values: list[AttributeValue]
