"""Catalogue records as the database would give them, for tests without one."""

import itertools
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from tradecounter.products.queries.records import ProductRecord

_ids = itertools.count(1)

_PLAIN = ProductRecord(
    id=0,
    sku="",
    sku_key="",
    ean=None,
    name="Plain",
    manufacturer="acme",
    weight_kg=Decimal(0),
    box_width_mm=Decimal(0),
    box_height_mm=Decimal(0),
    box_length_mm=Decimal(0),
    clearance_product=False,
    consumer_unit_cost=Decimal("0.00"),
    description="",
    description_html="",
    short_description="",
    store_url="",
    images=[],
    categories=[],
    attributes={},
    related_products=[],
    similar_products=[],
    components=[],
    documents=[],
    active=True,
)


def product_record(sku: str, **values: Any) -> ProductRecord:
    """A product with an id of its own; plain but for the values given."""
    return replace(_PLAIN, **{"id": next(_ids), "sku": sku, "sku_key": sku.casefold(), **values})
