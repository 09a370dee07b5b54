"""The rows of the catalogue's import files, and how they are staged."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.bulk.kinds import Staged
from tradecounter.bulk.rows import (
    RowNotes,
    checked_key,
    folded,
    measured,
    pounds,
    required_text,
    set_members,
    stored_external_id,
    text_of,
)
from tradecounter.kit.keys import ExternalId, Key, Spellings, ean_problem, key_form
from tradecounter.kit.numbers import KILOGRAM_PLACES, MILLIMETRE_PLACES, Kilograms, Millimetres, Pounds
from tradecounter.kit.text import trimmed
from tradecounter.kit.web_addresses import NotAWebAddressError, host_of
from tradecounter.products.search.terms import phrases_of
from tradecounter.products.wire import AttributeType, AttributeValue, ProductImage

Text = Annotated[str, Meta(max_length=100_000)]

_SCIENTIFIC = re.compile(r"[0-9]+([.,][0-9]*)?[eE][+-]?[0-9]+")
_MOST_COMPONENTS = 100
_MOST_DOCUMENTS = 50
_LEAST_PHRASES = 2
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


class SynonymsRow(Struct, forbid_unknown_fields=True):
    """Words and phrases that mean the same, separated by commas."""

    words: Annotated[str, Meta(min_length=1, max_length=500)]


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

    sku: Key
    quantity: Annotated[int, Meta(ge=1, le=10_000)]


class DocumentRow(Struct, forbid_unknown_fields=True):
    """A datasheet of a product, or another link."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    url: str


class ProductRow(Struct, forbid_unknown_fields=True):
    """A product; a row for an existing product needs nothing but the SKU."""

    sku: Key
    ean: Annotated[str, Meta(max_length=200)] | UnsetType | None = UNSET
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
    store_url: str | UnsetType | None = UNSET
    images: list[ProductImage] | UnsetType = UNSET
    categories: list[str] | UnsetType = UNSET
    attributes: dict[str, str] | UnsetType = UNSET
    related_products: list[str] | UnsetType = UNSET
    similar_products: list[str] | UnsetType = UNSET
    components: Annotated[list[ComponentRow], Meta(max_length=_MOST_COMPONENTS)] | UnsetType = UNSET
    documents: Annotated[list[DocumentRow], Meta(max_length=_MOST_DOCUMENTS)] | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET


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
    "documents": [],
    "active": True,
    "external_id": None,
}


def staged_categories(top: CategoryRow, keys: Spellings, notes: RowNotes) -> Iterator[Staged]:
    """Stage a category and its children."""
    parent_key = _settled(keys, "key", top.key, notes)
    name = required_text(notes, "name", top.name)
    yield text_of(parent_key), {"name": name, "parent_key": None, "position": 0, "active": True}
    children = top.children if isinstance(top.children, list) else []
    for position, child in enumerate(children, start=1):
        place = f"children[{position - 1}]"
        if child.children:
            notes.error(f"{place}.children", "a category is at most two levels deep")
        key = _settled(keys, f"{place}.key", child.key, notes)
        name = required_text(notes, f"{place}.name", child.name)
        yield text_of(key), {"name": name, "parent_key": parent_key, "position": position, "active": True}


def staged_named(row: ManufacturerRow | AttributeRow, keys: Spellings, notes: RowNotes) -> Iterator[Staged]:
    """Stage a manufacturer or an attribute."""
    key = _settled(keys, "key", row.key, notes)
    yield text_of(key), {**set_members(row), "key": key, "name": required_text(notes, "name", row.name), "active": True}


def staged_synonyms(row: SynonymsRow, notes: RowNotes) -> Iterator[Staged]:
    """Stage a group of synonyms; its key is its phrases as they are compared."""
    words = required_text(notes, "words", row.words)
    if not isinstance(words, str):
        yield None, {"words": words, "active": True}
        return
    phrases = list(dict.fromkeys(" ".join(phrase) for phrase in phrases_of(words)))
    if len(phrases) < _LEAST_PHRASES:
        notes.error("words", "must have two or more words or phrases that mean the same, separated by commas")
    yield ", ".join(phrases), {"words": words, "active": True}


def _settled(keys: Spellings, field: str, value: object, notes: RowNotes) -> Any:
    key = checked_key(notes, field, value)
    return keys.settled(key) if isinstance(key, str) else key


class AttributeKeys:
    """The keys of the existing attributes. Rows of products name attributes by key or by name."""

    def __init__(self, name_of_key: Mapping[str, str]) -> None:
        self._keys = name_of_key.keys()
        by_name = {key_form(name): key for key, name in name_of_key.items()}
        self._by_name = by_name | {key_form(key): key for key in name_of_key}
        self._unknown: set[str] = set()

    def resolved(self, values: dict[str, str], notes: RowNotes) -> dict[str, str]:
        """Return a product's values by attribute key. Unknown names are kept, with one warning per file."""
        if values.keys() <= self._keys:
            return values
        names: dict[str, str] = {}
        found: dict[str, str] = {}
        for name, value in values.items():
            key = name if name in self._keys else self._by_name.get(key_form(name))
            if key is None:
                key = name
                if name not in self._unknown:
                    self._unknown.add(name)
                    notes.warn("attributes", f"attribute {name!r} does not exist")
            if key in found:
                notes.error("attributes", f"{names[key]!r} and {name!r} are the same attribute")
            names[key], found[key] = name, value
        return found


class CatalogueKeys(Struct, frozen=True):
    """The existing records that rows of products refer to."""

    manufacturers: Spellings
    categories: Spellings
    attributes: AttributeKeys


def staged_product(product: ProductRow, keys: CatalogueKeys, notes: RowNotes) -> Iterator[Staged]:
    """Stage a product."""
    values = set_members(product)
    values.pop("manufacturer_name", None)
    for name in ("consumer_unit_cost", "purchase_cost"):
        if name in values:
            values[name] = pounds(notes, name, getattr(product, name))
    for name, places in _SIZES.items():
        if name in values:
            values[name] = measured(notes, name, getattr(product, name), _LARGEST_SIZE, places)
    values |= stored_external_id(notes, values)
    _check_addresses(product, notes)
    values |= _staged_keys(product, keys, notes)
    if isinstance(product.attributes, dict):
        values["attributes"] = keys.attributes.resolved(product.attributes, notes)
    links = [
        {"name": name, "sku": sku, "key": key_form(sku)}
        for name in ("related_products", "similar_products")
        for sku in values.get(name, ())
    ]
    if isinstance(product.components, list):
        _check_components(product.sku, product.components, notes)
        values["components"] = [{"key": key_form(c.sku), "quantity": c.quantity} for c in product.components]
        links += [{"name": "components", "sku": c.sku, "key": key_form(c.sku)} for c in product.components]
    values |= {name: PRODUCT_DEFAULTS.get(name) for name, value in values.items() if value is None}
    values["links"] = links
    yield folded(values["sku"]), values


def _staged_keys(product: ProductRow, keys: CatalogueKeys, notes: RowNotes) -> dict[str, Any]:
    """Return what a product and what it refers to is known by."""
    values: dict[str, Any] = {"sku": checked_key(notes, "sku", product.sku)}
    if product.name is not UNSET:
        values["name"] = required_text(notes, "name", product.name)
    if product.ean is not UNSET:
        values["ean"] = checked_ean(notes, product.ean)
    if product.manufacturer is not UNSET:
        values["manufacturer"] = _stored(keys.manufacturers, "manufacturer", product.manufacturer, notes)
    if isinstance(product.categories, list):
        categories = [
            _stored(keys.categories, f"categories[{n}]", key, notes) for n, key in enumerate(product.categories)
        ]
        values["categories"] = list(dict.fromkeys(key for key in categories if key is not UNSET))
    for name in ("related_products", "similar_products"):
        skus = getattr(product, name)
        if isinstance(skus, list):
            values[name] = [trimmed(sku) for sku in skus]
    return values


def _stored(keys: Spellings, field: str, value: str, notes: RowNotes) -> Any:
    key = checked_key(notes, field, value)
    return keys.of(key) if isinstance(key, str) else key


def checked_ean(notes: RowNotes, ean: object) -> Any:
    """Return a valid EAN, otherwise None with a warning; a number that has lost its digits is an error."""
    if not isinstance(ean, str) or not (text := trimmed(ean)):
        return ean if ean is None or ean is UNSET else None
    if _SCIENTIFIC.fullmatch(text):
        notes.error("ean", f"{text!r} has lost its last digits: format the column as text, then export the file again")
        return UNSET
    if not (problem := ean_problem(text)):
        return text
    notes.warn("ean", f"{text[:40]!r} is not an EAN, {problem}: imported without one")
    return None


def _check_addresses(product: ProductRow, notes: RowNotes) -> None:
    """Check the web addresses, which pages of shops link to and show."""
    named = [("store_url", product.store_url)] if product.store_url else []
    if isinstance(product.images, list):
        named += [(f"images[{place}].url", image.url) for place, image in enumerate(product.images)]
    if isinstance(product.documents, list):
        named += [(f"documents[{place}].url", document.url) for place, document in enumerate(product.documents)]
    for name, address in named:
        try:
            host_of(str(address))
        except NotAWebAddressError as error:
            notes.error(name, f"{str(address)[:100]!r} {error}")


def _check_components(sku: object, components: list[ComponentRow], notes: RowNotes) -> None:
    keys = [key_form(component.sku) for component in components]
    if folded(sku) in keys:
        notes.error("components", f"{sku} cannot contain itself")
    for number, key in enumerate(keys):
        if key in keys[:number]:
            notes.error(f"components[{number}].sku", f"{components[number].sku} is listed twice: add up its quantities")
