"""The catalogue's resources on the wire, with examples (specification, section 2)."""

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.kit.wire import Amount, LocalDateTime


class ProductImage(Struct):
    """A picture of a product."""

    is_primary: Annotated[bool, Meta(description="Whether to show it first.")]
    url: Annotated[str, Meta(description="The picture's URL.")]


class ProductIncomingStock(Struct):
    """Units on an expected delivery."""

    incoming: Annotated[int, Meta(description="Units expected.")]
    expected_on: LocalDateTime


class ProductAvailability(Struct):
    """Stock of a product; expected deliveries are shown to trade accounts."""

    available: Annotated[int, Meta(ge=0, description="Units in stock.")]
    status: Annotated[
        str, Meta(description="A label: In stock, Low stock, On order, Out of stock; new values may be added.")
    ]
    incoming: Annotated[
        list[ProductIncomingStock], Meta(description="Expected deliveries, for trade accounts; otherwise empty.")
    ]


class Product(Struct):
    """A product at the calling customer's prices."""

    sku: Annotated[str, Meta(description="The code to order the product by; case does not matter.")]
    ean: Annotated[str | None, Meta(description="Usually an EAN of 13 digits.")]
    name: Annotated[str, Meta(description="The product's name.")]
    manufacturer: Annotated[str, Meta(description="The manufacturer's key.")]
    weight_kg: Annotated[Decimal, Meta(description="Boxed weight in kilograms; 0 if unknown.")]
    box_width_mm: Annotated[Decimal, Meta(description="Millimetres, boxed; 0 when unknown.")]
    box_height_mm: Annotated[Decimal, Meta(description="Millimetres, boxed; 0 when unknown.")]
    box_length_mm: Annotated[Decimal, Meta(description="Millimetres, boxed; 0 when unknown.")]
    clearance_product: Annotated[bool, Meta(description="Reduced or refurbished.")]
    images: Annotated[list[ProductImage], Meta(description="Pictures of the product.")]
    availability: ProductAvailability
    single_unit_cost: Annotated[Amount, Meta(description="Net price of one unit.")]
    five_plus_unit_cost: Annotated[Amount, Meta(description="Net unit price from five units.")]
    ten_plus_unit_cost: Annotated[Amount, Meta(description="Net unit price from ten units.")]
    consumer_unit_cost: Annotated[Amount, Meta(description="Recommended retail price; 0 if unknown.")]
    store_url: Annotated[str, Meta(description="The product's page in the store.")]
    categories: Annotated[list[str], Meta(description="Category keys.")]
    attributes: Annotated[dict[str, str], Meta(description="Attribute names and values.")]
    description: Annotated[str | UnsetType, Meta(description="The description as plain text.")] = UNSET
    description_html: Annotated[str | UnsetType, Meta(description="The description as HTML.")] = UNSET
    short_description: Annotated[str | UnsetType, Meta(description="The description in one sentence.")] = UNSET
    related_products: Annotated[list[str], Meta(description="SKUs.")] | UnsetType = UNSET
    similar_products: Annotated[list[str], Meta(description="SKUs.")] | UnsetType = UNSET


class Category(Struct):
    """A category; the tree is at most two levels deep."""

    key: Annotated[str, Meta(description="Use it in the `category` filter.")]
    name: Annotated[str, Meta(description="The category's name, which the filter accepts too.")]
    children: Annotated[list["Category"] | None, Meta(description="The subcategories; null if the category has none.")]


class Manufacturer(Struct):
    """A manufacturer."""

    key: Annotated[str, Meta(description="Use it in the `manufacturer` filter.")]
    name: Annotated[str, Meta(description="The manufacturer's name.")]


class AttributeValue(Struct):
    """One value that products have for an attribute."""

    value: Annotated[str, Meta(description="The value, as a string.")]


AttributeType = Literal["boolean", "string", "int"]


class ProductAttribute(Struct):
    """An attribute of products."""

    key: Annotated[str, Meta(description="Use it in the `attribute` filter.")]
    name: Annotated[str, Meta(description="The attribute's name, as in products; the filter accepts it too.")]
    type: Annotated[AttributeType, Meta(description="`int` attributes can be compared with <, >, <= and >=.")]
    possible_values: Annotated[list[AttributeValue], Meta(description="The values that products have.")]


PRODUCT = Product(
    sku="CV-320P",
    ean="2155682100321",
    name="Corvane 320P IP phone",
    manufacturer="corvane",
    weight_kg=Decimal("1.1"),
    box_width_mm=Decimal(230),
    box_height_mm=Decimal(90),
    box_length_mm=Decimal(250),
    clearance_product=False,
    images=[ProductImage(is_primary=True, url="https://images.example/corvane/320p-front.jpg")],
    availability=ProductAvailability(
        available=42,
        status="In stock",
        incoming=[ProductIncomingStock(incoming=100, expected_on="2026-07-01T09:00:00")],
    ),
    single_unit_cost=Decimal("79.90"),
    five_plus_unit_cost=Decimal("75.90"),
    ten_plus_unit_cost=Decimal("71.90"),
    consumer_unit_cost=Decimal("99.95"),
    store_url="https://shop.example/p/corvane-320p",
    categories=["ip-phones", "desk-phones"],
    attributes={"Ethernet ports": "2", "Powered by PoE": "true"},
)
DESCRIBED_PRODUCT = msgspec.structs.replace(
    PRODUCT,
    description="A desk phone with two gigabit ports and a colour display.",
    short_description="Gigabit desk phone with a colour display.",
)
PRODUCTS_CSV = (
    "sku,ean,name,manufacturer,weight_kg,box_width_mm,box_height_mm,box_length_mm,clearance_product,images,"
    "availability.available,availability.status,availability.incoming,single_unit_cost,five_plus_unit_cost,"
    "ten_plus_unit_cost,consumer_unit_cost,store_url,categories,attributes\r\n"
    "CV-320P,2155682100321,Corvane 320P IP phone,corvane,1.1,230,90,250,false,[],42,In stock,[],79.90,75.90,71.90,"
    '99.95,https://shop.example/p/corvane-320p,ip-phones|desk-phones,"{""Powered by PoE"":""true""}"\r\n'
)
CATEGORIES = [Category("phones", "Phones", [Category("desk-phones", "Desk phones", None)])]
MANUFACTURERS = [Manufacturer("corvane", "Corvane")]
ATTRIBUTES = [ProductAttribute("poe", "PoE", "boolean", [AttributeValue("false"), AttributeValue("true")])]
