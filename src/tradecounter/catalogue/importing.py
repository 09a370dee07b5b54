"""Import kinds of the catalogue: categories, manufacturers, attributes, products."""

from collections.abc import Iterable

from tradecounter.bulk.kinds import ImportKind, Stage, by_row, deactivation
from tradecounter.bulk.statements import merge_statement, required_when_new
from tradecounter.catalogue.import_rows import (
    PRODUCT_DEFAULTS,
    AttributeKeys,
    AttributeRow,
    CategoryRow,
    ManufacturerRow,
    ProductRow,
    staged_categories,
    staged_named,
    staged_product,
)
from tradecounter.db.rows import fetch_tuples
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold


async def _names_taken(tx: Transaction) -> Iterable[tuple[int, str]]:
    """Return the lines whose attribute has the name of another one, without case: products show values by name."""
    rows = await fetch_tuples(
        tx,
        """
        select null::integer as line, key, name from attribute
        where active and key not in (select key from staged where key is not null)
        union all
        select line, key, row ->> 'name' from staged where key is not null and row ->> 'name' is not null
        order by line nulls first
        """,
    )
    key_of_name: dict[str, str] = {}
    taken = []
    for line, key, name in rows:
        other = key_of_name.setdefault(fold(name), key)
        if other != key and line is not None:
            taken.append((line, f"name: {name!r} is already the name of the attribute {other!r}"))
    return taken


async def _stage_of_products(tx: Transaction) -> Stage[ProductRow]:
    """Return how products are staged, with the attributes that there are."""
    attributes = AttributeKeys(dict(await fetch_tuples(tx, "select key, name from attribute where active")))
    return lambda product, notes: staged_product(product, attributes, notes)


MANUFACTURERS = ImportKind(
    shape=ManufacturerRow,
    key=("key",),
    prepare=by_row(staged_named),
    merge=merge_statement("manufacturer", "key", ["name", "active"], {}),
    removal=deactivation("manufacturer", "key"),
    view="select key, to_jsonb(m) as row from manufacturer m",
    topics=("catalogue",),
)

ATTRIBUTES = ImportKind(
    shape=AttributeRow,
    key=("key",),
    prepare=by_row(staged_named),
    checks=(_names_taken,),
    merge=merge_statement("attribute", "key", ["name", "type", "possible_values", "active"], {"possible_values": []}),
    removal=deactivation("attribute", "key"),
    view="select key, to_jsonb(a) as row from attribute a",
    topics=("catalogue",),
)

CATEGORIES = ImportKind(
    shape=CategoryRow,
    key=("key",),
    prepare=by_row(staged_categories),
    checks=(
        """
        select s.line, format('children: %%s is a top-level category with children of its own', s.key)
        from staged s
        where s.row ->> 'parent_key' is not null
          and exists (select from category c where c.parent_key = s.key and c.active
                      and c.key not in (select key from staged where key is not null))
        """,
    ),
    merge=merge_statement("category", "key", ["name", "parent_key", "position", "active"], {}),
    removal=deactivation("category", "key"),
    view="select key, to_jsonb(c) as row from category c",
    topics=("catalogue",),
)

PRODUCTS = ImportKind(
    shape=ProductRow,
    key=("sku",),
    prepare=_stage_of_products,
    checks=(
        required_when_new("product", "sku_key", ("name", "manufacturer"), "product"),
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
    merge=merge_statement(
        "product", "sku_key", ["sku", "ean", "name", "manufacturer", *PRODUCT_DEFAULTS], PRODUCT_DEFAULTS
    ),
    replaced={"active": True},
    removal=deactivation("product", "sku_key"),
    view="select sku_key as key, to_jsonb(p) - '{id,sku_key}'::text[] as row from product p",
    topics=("catalogue",),
)
