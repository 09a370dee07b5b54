"""The catalogue's rows as the database holds them, and the statements that read them all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from tradecounter.catalogue.wire import AttributeType
from tradecounter.db.arrays import fetch_array
from tradecounter.db.rows import fetch_all, fetch_tuples, fetch_value
from tradecounter.db.transaction import Transaction


class ProductRecord(Struct, frozen=True):
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
class ReferenceRecords:
    """What the catalogue holds beside its products."""

    categories: list[CategoryRecord]
    manufacturers: list[ManufacturerRecord]
    attributes: list[AttributeRecord]


async def count_products(tx: Transaction) -> int:
    """Return how many products there are, inactive ones included."""
    count: int = await fetch_value(tx, "select count(*) from product")
    return count


async def read_reference(tx: Transaction) -> ReferenceRecords:
    """Return the categories in order of position, the manufacturers and the attributes in order of key."""
    return ReferenceRecords(
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


async def read_product_ids(tx: Transaction) -> list[int]:
    """Return the ids of all products, inactive ones included: old orders still show them; in order of folded SKU."""
    found = await fetch_array(tx, {"id": "int8"}, "select id, sku_key from product", order_by='sku_key collate "C"')
    ids: list[int] = found["id"].tolist()
    return ids


async def read_products(tx: Transaction, ids: Sequence[int]) -> list[ProductRecord]:
    """Return the products with these ids, in their order."""
    rows = await fetch_tuples(
        tx,
        """
        select id, sku, sku_key, ean, name, manufacturer, trim_scale(weight_kg)::text,
               trim_scale(box_width_mm)::text, trim_scale(box_height_mm)::text, trim_scale(box_length_mm)::text,
               clearance_product, consumer_unit_cost::text, description, description_html, short_description,
               store_url, images::text, categories::text, attributes::text, related_products::text,
               similar_products::text, components::text, active
        from product where id = any(%s)
        """,
        [ids],
    )
    # From text: several times as fast as the database driver's own decimals and JSON.
    of_id = {row[0]: _record(row) for row in rows}
    return [of_id[product_id] for product_id in ids]


def _same(cell: Any) -> Any:
    return cell


_decode: Callable[[str], Any] = msgspec.json.Decoder().decode
_MAKERS: dict[Any, Callable[[Any], Any]] = {Decimal: Decimal, int: _same, str: _same, bool: _same, str | None: _same}
_FROM_TEXT: list[Callable[[Any], Any]] = [
    _MAKERS.get(field.type, _decode) for field in msgspec.structs.fields(ProductRecord)
]


def _record(row: tuple[Any, ...]) -> ProductRecord:
    return ProductRecord(*[make(cell) for make, cell in zip(_FROM_TEXT, row, strict=True)])
