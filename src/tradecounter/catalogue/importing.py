"""Import kinds of the catalogue: categories, manufacturers, attributes, products."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.catalogue.wire import AttributeType, AttributeValue, ProductImage
from tradecounter.db.import_values import measured, pounds
from tradecounter.db.importing import ImportKind, Staged, given, merge_statement
from tradecounter.kit.errors import invalid
from tradecounter.kit.text import fold

Key = Annotated[str, Meta(min_length=1, max_length=200)]
Sku = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=100_000)]

_MOST_COMPONENTS = 100
_LARGEST_SIZE = Decimal(1_000_000)
_SIZES = {"weight_kg": 3, "box_width_mm": 1, "box_height_mm": 1, "box_length_mm": 1}  # and the places kept


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
    """What a bundle holds: so many units of a product in each."""

    sku: Sku
    quantity: Annotated[int, Meta(ge=1, le=10_000)]


class ProductRow(Struct, forbid_unknown_fields=True):
    """A product; all but the SKU may be left out, once it is there."""

    sku: Sku
    ean: Annotated[str, Meta(max_length=20)] | UnsetType | None = UNSET
    name: Annotated[str, Meta(min_length=1, max_length=500)] | UnsetType = UNSET
    manufacturer: Key | UnsetType = UNSET
    manufacturer_name: str | UnsetType | None = UNSET
    weight_kg: Decimal | UnsetType | None = UNSET
    box_width_mm: Decimal | UnsetType | None = UNSET
    box_height_mm: Decimal | UnsetType | None = UNSET
    box_length_mm: Decimal | UnsetType | None = UNSET
    clearance_product: bool | UnsetType = UNSET
    configurable: bool | UnsetType = UNSET
    consumer_unit_cost: Decimal | UnsetType | None = UNSET
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


_DEFAULTS: dict[str, Any] = {
    "weight_kg": 0,
    "box_width_mm": 0,
    "box_height_mm": 0,
    "box_length_mm": 0,
    "clearance_product": False,
    "configurable": False,
    "consumer_unit_cost": 0,
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


def _staged_categories(top: CategoryRow) -> Iterator[Staged]:
    yield top.key, {"name": top.name, "parent_key": None, "position": 0, "active": True}
    for position, child in enumerate(top.children or (), start=1):
        if child.children:
            raise invalid(f"children[{position - 1}].children", "a category is at most two levels deep")
        yield child.key, {"name": child.name, "parent_key": top.key, "position": position, "active": True}


def _staged_product(product: ProductRow) -> Iterator[Staged]:
    values = given(product)
    values.pop("manufacturer_name", None)
    if isinstance(product.consumer_unit_cost, Decimal):
        values["consumer_unit_cost"] = pounds("consumer_unit_cost", product.consumer_unit_cost)
    for name, places in _SIZES.items():
        size = getattr(product, name)
        if isinstance(size, Decimal):
            values[name] = measured(name, size, _LARGEST_SIZE, places)
    nulls_to_defaults = {name: _DEFAULTS[name] for name, value in values.items() if value is None and name in _DEFAULTS}
    links = [
        {"name": name, "sku": sku, "key": fold(sku)}
        for name in ("related_products", "similar_products")
        for sku in values.get(name, ())
    ]
    if not isinstance(product.components, UnsetType):
        _check_components(product.sku, product.components)
        values["components"] = [{"key": fold(c.sku), "quantity": c.quantity} for c in product.components]
        links += [{"name": "components", "sku": c.sku, "key": fold(c.sku)} for c in product.components]
    yield fold(product.sku), values | nulls_to_defaults | {"links": links}


def _check_components(sku: str, components: list[ComponentRow]) -> None:
    keys = [fold(component.sku) for component in components]
    if fold(sku) in keys:
        raise invalid("components", f"{sku} cannot hold itself")
    for number, key in enumerate(keys):
        if key in keys[:number]:
            raise invalid(
                f"components[{number}].sku", f"{components[number].sku} is there twice: add up its quantities"
            )


def _staged_named(row: ManufacturerRow | AttributeRow) -> Iterator[Staged]:
    yield row.key, {**given(row), "active": True}


MANUFACTURERS = ImportKind(
    shape=ManufacturerRow,
    staged=_staged_named,
    merge=merge_statement("manufacturer", "key", ["name", "active"], {}),
    remove="update manufacturer set active = false where active and key not in (select key from staged)",
    topics=("catalogue",),
)

ATTRIBUTES = ImportKind(
    shape=AttributeRow,
    staged=_staged_named,
    merge=merge_statement("attribute", "key", ["name", "type", "possible_values", "active"], {"possible_values": []}),
    remove="update attribute set active = false where active and key not in (select key from staged)",
    topics=("catalogue",),
)

CATEGORIES = ImportKind(
    shape=CategoryRow,
    staged=_staged_categories,
    checks=(
        """
        select s.line, format('children: %%s is a top-level category with children of its own', s.key)
        from staged s
        where s.row ->> 'parent_key' is not null
          and exists (select from category c where c.parent_key = s.key and c.active
                      and c.key not in (select key from staged))
        """,
    ),
    merge=merge_statement("category", "key", ["name", "parent_key", "position", "active"], {}),
    remove="update category set active = false where active and key not in (select key from staged)",
    topics=("catalogue",),
)

PRODUCTS = ImportKind(
    shape=ProductRow,
    staged=_staged_product,
    checks=(
        """
        select s.line, format('%%s: is required for a new product', needed.name)
        from staged s left join product p on p.sku_key = s.key, (values ('name'), ('manufacturer')) as needed (name)
        where p.id is null and not jsonb_exists(s.row, needed.name)
        """,
        """
        select s.line, format('manufacturer: there is no manufacturer %%s', to_json(s.row ->> 'manufacturer'))
        from staged s left join manufacturer m on m.key = s.row ->> 'manufacturer'
        where jsonb_exists(s.row, 'manufacturer') and m.key is null
        """,
        """
        select s.line, format('categories: there is no category %%s', to_json(given.key))
        from staged s, jsonb_array_elements_text(s.row -> 'categories') as given (key)
        where not exists (select from category c where c.key = given.key)
        """,
        """
        select s.line, format('%%s: there is no product %%s', link.name, to_json(link.sku))
        from staged s, jsonb_to_recordset(s.row -> 'links') as link (name text, sku text, key text)
        where not exists (select from product p where p.sku_key = link.key)
          and not exists (select from staged other where other.key = link.key)
        """,
        # What is a bundle once the file is in, and what would stand in one: either may be in the file.
        """
        with bundles as (
            select s.line, s.key, s.row ->> 'sku' as sku, s.row -> 'components' as components
            from staged s where s.row -> 'components' <> '[]'
            union all
            select null, p.sku_key, p.sku, p.components
            from product p
            where p.components <> '[]'
              and not exists (select from staged s where s.key = p.sku_key and jsonb_exists(s.row, 'components'))
        )
        select coalesce(outside.line, inside.line),
               format('components: %%s is a bundle, so it cannot be in the bundle %%s', to_json(inside.sku),
                      to_json(outside.sku))
        from bundles outside, jsonb_to_recordset(outside.components) as held (key text), bundles inside
        where inside.key = held.key
        """,
    ),
    merge=merge_statement("product", "sku_key", ["sku", "ean", "name", "manufacturer", *_DEFAULTS], _DEFAULTS),
    replaced={"active": True},
    remove="update product set active = false where active and sku_key not in (select key from staged)",
    topics=("catalogue",),
)
