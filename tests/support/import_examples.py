"""An example of every kind of import file: rows, and one of them altered."""

from dataclasses import dataclass
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Example:
    """Rows of a kind, and the first of them altered; a replacing file then holds this one alone."""

    rows: Rows
    altered: dict[str, Any]
    records: int = 2  # how many things the rows describe
    statement: str = ""  # selects the identifiers of the stored rows, in order
    kept: tuple[Any, ...] = ()  # what it selects after replacing
    replaceable: bool = True


PRICE = {"single_unit_cost": "10.00", "five_plus_unit_cost": "9.00", "ten_plus_unit_cost": "8.00"}
METHOD = {
    "provider": "Slowpost",
    "region": 1,
    "countries": ["GB", "IM"],
    "max_weight_kg": "30.5",
    "base_cost_net": "5.25",
    "cost_per_kg_net": "0.5",
    "transit_days": 2,
    "cut_off": "16:30",
    "description": "Standard, tracked",
}
ADDRESS = {"contact_name": "Ada", "street_one": "1 Road", "city": "Leeds", "zip": "LS1", "country_code": "GB"}
CUSTOMER = {
    "first_name": "Ada",
    "last_name": "Example",
    "company": "Example & Co",
    "accounts_email": "accounts@a.example",
    "trade_account": True,
    "price_list": "gold",
    "discount": "2.5",
    "credit_limit": "1000.00",
    "term_days": 30,
    "packing": "plain",
    "shipping_method": 1,
    "unique_references": True,
    "external_id": "ERP-A",
    "addresses": [ADDRESS],
}
PHONE = {
    "sku": "PHONE",
    "ean": "4000000000006",
    "name": 'A phone, with "quotes" and\nlines',
    "manufacturer": "acme",
    "manufacturer_name": "Acme",
    "weight_kg": "1.25",
    "box_width_mm": "200",
    "box_height_mm": "100.5",
    "box_length_mm": "50",
    "clearance_product": False,
    "configurable": True,
    "external_id": "ERP-PHONE",
    "consumer_unit_cost": "99.99",
    "description": "Rings.",
    "description_html": "<p>Rings.</p>",
    "short_description": "Rings",
    "store_url": "https://shop.example/phone",
    "images": [{"is_primary": True, "url": "https://shop.example/phone.jpg"}],
    "categories": ["phones", "desk"],
    "attributes": {"colour": "black"},
    "related_products": ["cable"],
    "similar_products": [],
    "active": True,
}

# In the order in which they need each other.
EXAMPLES = {
    "categories": Example(
        [
            {"key": "phones", "name": "Phones", "children": [{"key": "desk", "name": "Desk phones", "children": None}]},
            {"key": "cables", "name": "Cables", "children": None},
        ],
        {"key": "phones", "name": "Phones", "children": [{"key": "desk", "name": "Desks", "children": None}]},
        records=3,
        statement="select key from category where active order by key",
        kept=("desk", "phones"),
    ),
    "manufacturers": Example(
        [{"key": "acme", "name": "Acme"}, {"key": "bolt", "name": "Bolt"}],
        {"key": "acme", "name": "ACME Ltd"},
        statement="select key from manufacturer where active",
        kept=("acme",),
    ),
    "attributes": Example(
        [
            {"key": "colour", "name": "Colour", "type": "string", "possible_values": [{"value": "black"}]},
            {"key": "ports", "name": "Ports", "type": "int", "possible_values": []},
        ],
        {"key": "colour", "name": "Colour", "type": "string", "possible_values": [{"value": "red"}]},
        statement="select key from attribute where active",
        kept=("colour",),
    ),
    "products": Example(
        [PHONE, {"sku": "CABLE", "name": "A cable", "manufacturer": "bolt", "categories": ["cables"]}],
        {**PHONE, "weight_kg": "1.251", "related_products": []},
        statement="select sku from product where active",
        kept=("PHONE",),
    ),
    "synonyms": Example(
        [{"words": "handset, desk phone"}, {"words": "switch, network switch"}],
        {"words": "Handset, Desk Phone"},
        statement="select key from synonym_group where active",
        kept=("handset, desk phone",),
    ),
    "price-list": Example(
        [{"price_list": "gold", "sku": "PHONE", **PRICE}, {"price_list": "gold", "sku": "CABLE", **PRICE}],
        {"price_list": "gold", "sku": "PHONE", **PRICE, "ten_plus_unit_cost": "7.99"},
        statement="select sku from price join product on product.id = product_id",
        kept=("PHONE",),
    ),
    "stock": Example(
        [{"sku": "PHONE", "available": 7}, {"sku": "CABLE", "available": 70}],
        {"sku": "PHONE", "available": 8},
        statement="select sku from stock_level join product on product.id = product_id where available > 0",
        kept=("PHONE",),
    ),
    "incoming": Example(
        [
            {"sku": "PHONE", "incoming": 10, "expected_on": "2026-07-01"},
            {"sku": "PHONE", "incoming": 20, "expected_on": "2026-07-01T12:30:15"},
        ],
        {"sku": "PHONE", "incoming": 11, "expected_on": "2026-07-01"},
        statement="select incoming from incoming_stock",
        kept=(11,),
    ),
    "shipping-regions": Example(
        [
            {"id": 1, "name": "Mainland", "countries": ["GB", "IM"], "postcodes": []},
            {"id": 2, "name": "North", "countries": [], "postcodes": ["bt", "KW15"]},
        ],
        {"id": 1, "name": "Mainland", "countries": ["GB"], "postcodes": []},
        statement="select id from shipping_region where active",
        kept=(1,),
    ),
    "shipping-methods": Example(
        [{"id": 1, **METHOD}, {"id": 2, **METHOD}],
        {"id": 1, **METHOD, "cut_off": "16:31"},
        statement="select id from shipping_method where active",
        kept=(1,),
    ),
    "customers": Example(
        [
            {"email_address": "a@a.example", **CUSTOMER},
            {"email_address": "b@b.example", "first_name": "Bo", "last_name": "Example"},
        ],
        {"email_address": "A@a.example", **CUSTOMER},
        replaceable=False,
    ),
    "contract-prices": Example(
        [
            {"customer_id": 1001, "sku": "PHONE", **PRICE, "valid_from": "2026-01-01", "valid_until": "2026-12-31"},
            {"customer_id": 1001, "sku": "CABLE", **PRICE},
        ],
        {"customer_id": 1001, "sku": "PHONE", **PRICE, "valid_from": "2026-01-01", "valid_until": "2026-11-30"},
        statement="select sku from contract_price join product on product.id = product_id",
        kept=("PHONE",),
    ),
}
