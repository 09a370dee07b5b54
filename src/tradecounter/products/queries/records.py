"""The catalogue's rows, the statements that read all of them, the stored layout, and pictures."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, LiteralString, TypedDict

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.db.arrays import ArrayStatement, fetch_array, find_binary
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.products.wire import AttributeType


class ImageRecord(TypedDict):
    """A picture of a product."""

    is_primary: bool
    url: str


class DocumentRecord(TypedDict):
    """A datasheet of a product, or another link."""

    name: str
    url: str


class ComponentRecord(TypedDict):
    """A component of a bundle: its folded SKU and its units in each bundle."""

    key: str
    quantity: int


class ProductRecord(Struct, frozen=True):
    """A product without prices."""

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
    images: list[ImageRecord]
    categories: list[str]
    attributes: dict[str, str]
    related_products: list[str]
    similar_products: list[str]
    components: list[ComponentRecord]
    documents: list[DocumentRecord]
    active: bool


class PicturedRecord(Struct, frozen=True):
    """What a product's picture in a list needs."""

    sku_key: str
    name: str
    images: list[ImageRecord]
    categories: list[str]
    attributes: dict[str, str]


class OrderableProduct(Struct, frozen=True):
    """What an order needs of a product, decoded without the rest."""

    id: int
    sku: str
    name: str
    weight_kg: Decimal
    components: list[ComponentRecord]


class CategoryRecord(Struct, frozen=True):
    """A category and its parent's key."""

    key: str
    name: str
    parent_key: str | None


class ManufacturerRecord(Struct, frozen=True):
    """A manufacturer."""

    key: str
    name: str


class AttributeRecord(Struct, frozen=True):
    """An attribute; its possible values are objects with the one key `value`."""

    key: str
    name: str
    type: AttributeType
    possible_values: list[dict[str, str]]


class ReferenceRecords(Struct, frozen=True):
    """Everything in the catalogue except products."""

    categories: list[CategoryRecord]
    manufacturers: list[ManufacturerRecord]
    attributes: list[AttributeRecord]
    synonyms: list[str] = field(default_factory=list)  # groups of words that mean the same, each a line


_COUNT_PRODUCTS = Statement("select count(*) from product")


async def count_products(tx: Transaction) -> int:
    """Return the number of products, inactive ones included."""
    return int(await tx.fetch_value(_COUNT_PRODUCTS))


_CATEGORIES = Statement(
    "select key, name, parent_key from category where active order by position, key", CategoryRecord
)

_MANUFACTURERS = Statement("select key, name from manufacturer where active order by key", ManufacturerRecord)

_ATTRIBUTES = Statement(
    "select key, name, type, possible_values from attribute where active order by key", AttributeRecord
)


_SYNONYMS = Statement("select words from synonym_group where active order by key")


async def read_reference(tx: Transaction) -> ReferenceRecords:
    """Return the categories in order of position, the others in order of key; without synonyms."""
    return ReferenceRecords(
        categories=await tx.fetch_all(_CATEGORIES),
        manufacturers=await tx.fetch_all(_MANUFACTURERS),
        attributes=await tx.fetch_all(_ATTRIBUTES),
    )


async def read_synonyms(tx: Transaction) -> list[str]:
    """Return the groups of synonyms, which only the search needs, in order of key."""
    return [words for (words,) in await tx.fetch_all(_SYNONYMS)]


async def read_groups(tx: Transaction) -> tuple[list[CategoryRecord], list[ManufacturerRecord]]:
    """Return the categories in order of position, and the manufacturers in order of key."""
    return await tx.fetch_all(_CATEGORIES), await tx.fetch_all(_MANUFACTURERS)


_PRODUCT_IDS = ArrayStatement("select id, sku_key from product", {"id": "int8"}, order_by='sku_key collate "C"')


async def read_product_ids(tx: Transaction) -> list[int]:
    """Return the ids of all products, in order of folded SKU; includes inactive products, which old orders show."""
    ids: list[int] = (await fetch_array(tx, _PRODUCT_IDS))["id"].tolist()
    return ids


_SKUS_OF_COMPONENTS = Statement("""
    select sku_key, sku from product
    where sku_key in (select part ->> 'key' from product bundle, jsonb_array_elements(bundle.components) part)
""")


async def skus_of_components(tx: Transaction) -> dict[str, str]:
    """Return the SKUs of all components of bundles, by folded SKU."""
    return dict(await tx.fetch_all(_SKUS_OF_COMPONENTS))


_READ_PRODUCTS = Statement("""
    select id, sku, sku_key, ean, name, manufacturer, trim_scale(weight_kg)::text,
           trim_scale(box_width_mm)::text, trim_scale(box_height_mm)::text, trim_scale(box_length_mm)::text,
           clearance_product, consumer_unit_cost::text, description, description_html, short_description,
           store_url, images::text, categories::text, attributes::text, related_products::text,
           similar_products::text, components::text, documents::text, active
    from product where id = any(:ids)
""")


async def read_products(tx: Transaction, ids: Sequence[int], unreadable: list[str]) -> list[ProductRecord]:
    """Return the products with these ids, in the same order.

    An unreadable row, which no import writes, becomes an inactive product with only its names. A message about the row
    is added to `unreadable`.
    """
    rows = await tx.fetch_all(_READ_PRODUCTS, ids=ids)
    try:
        records = _records(rows)
    except _UNREADABLE:
        records = [_record_or_names_only(row, unreadable) for row in rows]
    of_id = {record.id: record for record in records}
    return [of_id[product_id] for product_id in ids]


_PICTURED = Statement(
    "select sku_key, name, images, categories, attributes from product where sku_key = any(:sku_keys)", PicturedRecord
)


async def read_pictured(tx: Transaction, sku_keys: Sequence[str]) -> dict[str, PicturedRecord]:
    """Return what the pictures of products need, by folded SKU."""
    return {each.sku_key: each for each in await tx.fetch_all(_PICTURED, sku_keys=list(sku_keys))}


_Cells = Iterable[Any]
_Row = tuple[Any, ...]

_UNREADABLE = (msgspec.MsgspecError, ValueError)


def _same(cells: _Cells) -> _Cells:
    return cells


def _numbers(cells: _Cells) -> _Cells:
    numbers = list(map(Decimal, cells))
    if not all(map(Decimal.is_finite, numbers)):
        raise ValueError(f"{next(number for number in numbers if not number.is_finite())} is not a number")
    return numbers


def _json(type_: Any) -> Callable[[_Cells], _Cells]:
    decode = msgspec.json.Decoder(list[type_]).decode
    return lambda cells: decode(f"[{','.join(cells)}]")


# Each makes the values of a column. To parse a whole column's text at once is several times as fast as the conversions
# of the database driver.
_FIELDS = msgspec.structs.fields(ProductRecord)
_MAKERS: dict[Any, Callable[[_Cells], _Cells]] = {
    Decimal: _numbers,
    int: _same,
    str: _same,
    bool: _same,
    str | None: _same,
}
_FROM_TEXT = [_MAKERS.get(field.type) or _json(field.type) for field in _FIELDS]
_NOTHING: dict[Any, Any] = {Decimal: Decimal(0), str: "", bool: False, dict[str, str]: {}}
_NAMES = ("id", "sku", "sku_key", "name", "manufacturer")


def _records(rows: Sequence[_Row]) -> list[ProductRecord]:
    """Return the rows' products. Raises one of _UNREADABLE if any of them cannot be read."""
    columns = zip(*rows, strict=True) if rows else [()] * len(_FIELDS)
    made = [make(cells) for make, cells in zip(_FROM_TEXT, columns, strict=True)]
    return [ProductRecord(*values) for values in zip(*made, strict=True)]


def _record_or_names_only(row: _Row, unreadable: list[str]) -> ProductRecord:
    cells = {field.name: cell for field, cell in zip(_FIELDS, row, strict=True)}
    values = []
    for (name, cell), make in zip(cells.items(), _FROM_TEXT, strict=True):
        try:
            [value] = make([cell])
        except _UNREADABLE as error:
            unreadable.append(f"product {cells['sku']}: {name}: {str(error).replace('$[0]', '$', 1)}")
            return _names_only(cells)
        values.append(value)
    return ProductRecord(*values)


def _names_only(cells: dict[str, Any]) -> ProductRecord:
    values = {field.name: _NOTHING.get(field.type, []) for field in _FIELDS}
    return ProductRecord(**values | {"ean": None} | {name: cells[name] for name in _NAMES})


ORDERABLE_CELLS: LiteralString = """
    p.id, p.sku, p.sku_key, p.name, p.manufacturer, trim_scale(p.weight_kg)::text, p.components::text, p.active
"""


def orderable_record(cells: _Cells) -> ProductRecord:
    """Return a product with what an order needs of it, from the ORDERABLE_CELLS; inactive if they are unreadable."""
    product_id, sku, sku_key, name, manufacturer, weight_kg, components, active = cells
    product = _names_only(dict(zip(_NAMES, (product_id, sku, sku_key, name, manufacturer), strict=True)))
    try:
        [weight], [parts] = _numbers([weight_kg]), _json(list[ComponentRecord])([components])
    except _UNREADABLE:
        return product
    return replace(product, weight_kg=weight, components=parts, active=active)


_DELETE_LAYOUT = Statement("delete from catalogue_layout")
_ADD_LAYOUT = Statement("""
    insert into catalogue_layout (version, program, data)
    select version, :program, :data from change where topic = 'catalogue'
""")


async def replace_layout(tx: Transaction, program: str, data: bytes) -> None:
    """Store the layout of the catalogue's version in this transaction instead of the last one."""
    await tx.execute(_DELETE_LAYOUT)
    await tx.execute(_ADD_LAYOUT, program=program, data=data)


_FIND_LAYOUT = Statement("""
    select data from catalogue_layout l join change c on c.version = l.version
    where c.topic = 'catalogue' and l.program = :program
""")


async def find_layout(tx: Transaction, program: str) -> bytes | None:
    """Return the layout that this program stored of the catalogue's version in this transaction, or None."""
    return await find_binary(tx, _FIND_LAYOUT, program=program)
