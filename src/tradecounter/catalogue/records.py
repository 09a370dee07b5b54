"""The catalogue's rows as the database holds them, and the statements that read them all."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tradecounter.catalogue.wire import AttributeType
from tradecounter.db.rows import fetch_all
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class ProductRecord:
    """A product, priced by nobody yet; `components` hold key and quantity of what one of a bundle consists of."""

    id: int
    sku: str
    sku_key: str
    ean: str | None
    name: str
    manufacturer: str
    weight_kg: Decimal
    box_width_mm: Decimal
    box_height_mm: Decimal
    box_length_mm: Decimal
    clearance_product: bool
    consumer_unit_cost: Decimal
    description: str
    description_html: str
    short_description: str
    store_url: str
    images: list[dict[str, Any]]
    categories: list[str]
    attributes: dict[str, str]
    related_products: list[str]
    similar_products: list[str]
    components: list[dict[str, Any]]
    active: bool


@dataclass(frozen=True, slots=True)
class CategoryRecord:
    """A category and its parent's key."""

    key: str
    name: str
    parent_key: str | None


@dataclass(frozen=True, slots=True)
class ManufacturerRecord:
    """A manufacturer."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class AttributeRecord:
    """An attribute; its possible values are objects with the one key `value`."""

    key: str
    name: str
    type: AttributeType
    possible_values: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class CatalogueRecords:
    """Everything that a catalogue snapshot is built from."""

    products: list[ProductRecord]
    categories: list[CategoryRecord]
    manufacturers: list[ManufacturerRecord]
    attributes: list[AttributeRecord]


async def read_catalogue(tx: Transaction) -> CatalogueRecords:
    """Return the whole catalogue, inactive products included: old orders still show them."""
    return CatalogueRecords(
        products=await fetch_all(
            tx,
            ProductRecord,
            """
            select id, sku, sku_key, ean, name, manufacturer, trim_scale(weight_kg) as weight_kg,
                   trim_scale(box_width_mm) as box_width_mm, trim_scale(box_height_mm) as box_height_mm,
                   trim_scale(box_length_mm) as box_length_mm, clearance_product, consumer_unit_cost, description,
                   description_html, short_description, store_url, images, categories, attributes,
                   related_products, similar_products, components, active
            from product
            """,
        ),
        categories=await fetch_all(
            tx,
            CategoryRecord,
            "select key, name, parent_key from category where active order by position, key",
        ),
        manufacturers=await fetch_all(
            tx, ManufacturerRecord, "select key, name from manufacturer where active order by key"
        ),
        attributes=await fetch_all(
            tx,
            AttributeRecord,
            "select key, name, type, possible_values from attribute where active order by key",
        ),
    )
