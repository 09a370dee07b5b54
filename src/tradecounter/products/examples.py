"""Examples of the catalogue's resources, for the interface document."""

from decimal import Decimal

import msgspec

from tradecounter.products.wire import (
    AttributeValue,
    Category,
    Manufacturer,
    Product,
    ProductAttribute,
    ProductAvailability,
    ProductImage,
    ProductIncomingStock,
)

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
