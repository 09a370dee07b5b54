"""The rows of the catalogue's import files, and how they are staged."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.bulk.kinds import Staged
from tradecounter.bulk.values import RowNotes, folded, given, measured, pounds, text_of
from tradecounter.catalogue.wire import AttributeType, AttributeValue, ProductImage
from tradecounter.kit.text import fold
from tradecounter.rest.number_types import KILOGRAM_PLACES, MILLIMETRE_PLACES, Kilograms, Millimetres, Pounds

Key = Annotated[str, Meta(min_length=1, max_length=200)]
Sku = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=100_000)]

_MOST_COMPONENTS = 100
_LARGEST_SIZE = Decimal(1_000_000)
_SIZES = {
    "weight_kg": KILOGRAM_PLACES,
    "box_width_mm": MILLIMETRE_PLACES,
    "box_height_mm": MILLIMETRE_PLACES,
    "box_length_mm": MILLIMETRE_PLACES,
}


class ManufacturerRow(Struct, forbid_unknown_fields=True):
    """A manufacturer."""

    key: Key
    name: Key


class AttributeRow(Struct, forbid_unknown_fields=True):
    """An attribute."""

    key: Key
    name: Key
    type: AttributeType
    possible_values: list[AttributeValue] | UnsetType = UNSET


class CategoryRow(Struct, forbid_unknown_fields=True):
    """A top-level category with its children."""

    key: Key
    name: Key
    children: list["CategoryRow"] | None = None


class ComponentRow(Struct, forbid_unknown_fields=True):
    """A component of a bundle and its units in each bundle."""

    sku: Sku
    quantity: Annotated[int, Meta(ge=1, le=10_000)]


class ProductRow(Struct, forbid_unknown_fields=True):
    """A product; a row for an existing product needs nothing but the SKU."""

    sku: Sku
    ean: Annotated[str, Meta(max_length=20)] | UnsetType | None = UNSET
    name: Annotated[str, Meta(min_length=1, max_length=500)] | UnsetType = UNSET
    manufacturer: Key | UnsetType = UNSET
    manufacturer_name: str | UnsetType | None = UNSET
    weight_kg: Kilograms | UnsetType | None = UNSET
    box_width_mm: Millimetres | UnsetType | None = UNSET
    box_height_mm: Millimetres | UnsetType | None = UNSET
    box_length_mm: Millimetres | UnsetType | None = UNSET
    clearance_product: bool | UnsetType = UNSET
    configurable: bool | UnsetType = UNSET
    consumer_unit_cost: Pounds | UnsetType | None = UNSET
    purchase_cost: Pounds | UnsetType | None = UNSET
    description: Text | UnsetType | None = UNSET
    description_html: Text | UnsetType | None = UNSET
    short_description: Text | UnsetType | None = UNSET
    store_url: Annotated[str, Meta(max_length=2000)] | UnsetType | None = UNSET
    images: list[ProductImage] | UnsetType = UNSET
    categories: list[str] | UnsetType = UNSET
    attributes: dict[str, str] | UnsetType = UNSET
    related_products: list[str] | UnsetType = UNSET
    similar_products: list[str] | UnsetType = UNSET
    components: Annotated[list[ComponentRow], Meta(max_length=_MOST_COMPONENTS)] | UnsetType = UNSET
    active: bool | UnsetType = UNSET


PRODUCT_DEFAULTS: dict[str, Any] = {
    "weight_kg": 0,
    "box_width_mm": 0,
    "box_height_mm": 0,
    "box_length_mm": 0,
    "clearance_product": False,
    "configurable": False,
    "consumer_unit_cost": 0,
    "purchase_cost": None,
    "description": "",
    "description_html": "",
    "short_description": "",
    "store_url": "",
    "images": [],
    "categories": [],
    "attributes": {},
    "related_products": [],
    "similar_products": [],
    "components": [],
    "active": True,
}


def staged_categories(top: CategoryRow, notes: RowNotes) -> Iterator[Staged]:
    """Stage a category and its children."""
    yield text_of(top.key), {"name": top.name, "parent_key": None, "position": 0, "active": True}
    children = top.children if isinstance(top.children, list) else []
    for position, child in enumerate(children, start=1):
        if child.children:
            notes.error(f"children[{position - 1}].children", "a category is at most two levels deep")
        yield child.key, {"name": child.name, "parent_key": top.key, "position": position, "active": True}


def staged_named(row: ManufacturerRow | AttributeRow, _notes: RowNotes) -> Iterator[Staged]:
    """Stage a manufacturer or an attribute."""
    yield text_of(row.key), {**given(row), "active": True}


class AttributeKeys:
    """The keys of the existing attributes. Rows of products name attributes by key or by name."""

    def __init__(self, name_of_key: Mapping[str, str]) -> None:
        self._keys = name_of_key.keys()
        by_name = {fold(name): key for key, name in name_of_key.items()}
        self._by_name = by_name | {fold(key): key for key in name_of_key}
        self._unknown: set[str] = set()

    def resolved(self, values: dict[str, str], notes: RowNotes) -> dict[str, str]:
        """Return a product's values by attribute key. Unknown names are kept, with one warning per file."""
        if values.keys() <= self._keys:
            return values
        names: dict[str, str] = {}
        found: dict[str, str] = {}
        for name, value in values.items():
            key = name if name in self._keys else self._by_name.get(fold(name.strip()))
            if key is None:
                key = name
                if name not in self._unknown:
                    self._unknown.add(name)
                    notes.warn("attributes", f"attribute {name!r} does not exist")
            if key in found:
                notes.error("attributes", f"{names[key]!r} and {name!r} are the same attribute")
            names[key], found[key] = name, value
        return found


def staged_product(product: ProductRow, attributes: AttributeKeys, notes: RowNotes) -> Iterator[Staged]:
    """Stage a product."""
    values = given(product)
    values.pop("manufacturer_name", None)
    for name in ("consumer_unit_cost", "purchase_cost"):
        if name in values:
            values[name] = pounds(notes, name, getattr(product, name))
    for name, places in _SIZES.items():
        if name in values:
            values[name] = measured(notes, name, getattr(product, name), _LARGEST_SIZE, places)
    if isinstance(product.attributes, dict):
        values["attributes"] = attributes.resolved(product.attributes, notes)
    links = [
        {"name": name, "sku": sku, "key": fold(sku)}
        for name in ("related_products", "similar_products")
        for sku in values.get(name, ())
    ]
    if isinstance(product.components, list):
        _check_components(product.sku, product.components, notes)
        values["components"] = [{"key": fold(c.sku), "quantity": c.quantity} for c in product.components]
        links += [{"name": "components", "sku": c.sku, "key": fold(c.sku)} for c in product.components]
    values |= {name: PRODUCT_DEFAULTS.get(name) for name, value in values.items() if value is None}
    values["links"] = links
    yield folded(product.sku), values


def _check_components(sku: object, components: list[ComponentRow], notes: RowNotes) -> None:
    keys = [fold(component.sku) for component in components]
    if folded(sku) in keys:
        notes.error("components", f"{sku} cannot contain itself")
    for number, key in enumerate(keys):
        if key in keys[:number]:
            notes.error(f"components[{number}].sku", f"{components[number].sku} is listed twice: add up its quantities")
