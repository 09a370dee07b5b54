"""SQL of the catalogue's imports, and the products that an import changes."""

from typing import Literal, LiteralString

from msgspec import Struct
from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

ACTIVE_AND_STAGED_NAMES = Statement("""
    select null::integer as line, key, name from attribute
    where active and key not in (select key from staged where key is not null)
    union all
    select line, key, row ->> 'name' from staged
    where key is not null and row ->> 'name' is not null and row -> 'active' <> 'false'
    order by line nulls first
""")

ATTRIBUTE_NAMES = Statement("select key, name from attribute where active")

MANUFACTURER_VIEW: LiteralString = "select key, to_jsonb(m) as row from manufacturer m"

ATTRIBUTE_VIEW: LiteralString = "select key, to_jsonb(a) as row from attribute a"

SYNONYMS_VIEW: LiteralString = "select key, to_jsonb(s) as row from synonym_group s"

# Each category of a pair may be in the file or in the database. A roll-back also stages inactive ones.
CHECK_CHILDREN = Statement("""
    with tree as (
        select line, key, row ->> 'parent_key' as parent_key, row -> 'active' = 'true' as active from staged
        union all
        select null, key, parent_key, active from category
        where key not in (select key from staged where key is not null)
    )
    select coalesce(below.line, above.line), 'children',
           format('%s cannot be below %s, which is %s', min(below.key), above.key,
                  coalesce('below ' || above.parent_key, 'not active'))
    from tree below join tree above on above.key = below.parent_key
    where below.active and (above.parent_key is not null or not above.active)
      and coalesce(below.line, above.line) is not null
    group by coalesce(below.line, above.line), above.key, above.parent_key
""")

# A later import may have put a category below an added one, which then is in use.
UNDO_ADDED_CATEGORIES = Statement("""
    update category added set active = false
    where active and key in (select key from undone where before is null)
      and not exists (select from category below where below.parent_key = added.key and below.active
                      and below.key not in (select key from undone))
""")

CATEGORY_VIEW: LiteralString = "select key, to_jsonb(c) as row from category c"

CHECK_CATEGORIES = Statement("""
    select s.line, 'categories', format('category %s does not exist', to_json(given.key))
    from staged s, jsonb_array_elements_text(s.row -> 'categories') as given (key)
    where not exists (select from category c where c.key = given.key)
""")

CHECK_LINKS = Statement("""
    select s.line, link.name, format('product %s does not exist', to_json(link.sku))
    from staged s, jsonb_to_recordset(s.row -> 'links') as link (name text, sku text, key text)
    where not exists (select from product p where p.sku_key = link.key)
      and not exists (select from staged other where other.key = link.key)
""")

# A bundle cannot contain a bundle. Each of the two may be in the file or in the database.
CHECK_BUNDLES = Statement("""
    with bundles as (
        select s.line, s.key, s.row ->> 'sku' as sku, s.row -> 'components' as components
        from staged s where s.row -> 'components' <> '[]'
        union all
        select null, p.sku_key, p.sku, p.components
        from product p
        where p.components <> '[]'
          and not exists (select from staged s where s.key = p.sku_key and jsonb_exists(s.row, 'components'))
    )
    select coalesce(outside.line, inside.line), 'components',
           format('%s is a bundle, so it cannot be in the bundle %s', to_json(inside.sku),
                  to_json(outside.sku))
    from bundles outside, jsonb_to_recordset(outside.components) as component (key text), bundles inside
    where inside.key = component.key and coalesce(outside.line, inside.line) is not null
""")

# Another product may have had the external id before.
UNDO_ADDED_PRODUCTS = Statement("""
    update product set active = false, external_id = null
    where (active or external_id is not null) and sku_key in (select key from undone where before is null)
""")

PRODUCT_VIEW: LiteralString = """
    select sku_key as key, to_jsonb(p) - '{id,sku_key,changed_at}'::text[] as row from product p
"""


MOST_NAMED = 1000  # SKUs in an event


class ChangedProducts(Struct, frozen=True):
    """Products to which the same has happened; `fields` are those of which some of them have new values.

    `external_ids` has the reseller's own ids by SKU, of products that have one.
    """

    type: Literal["product.added", "product.changed", "product.removed"]
    skus: list[str]
    fields: list[str]
    external_ids: dict[str, str]


# A product is removed when it is not active any more: its record stays. Whole records of new products are large, so
# they are not sorted. The planner takes an import of 100,000 products for one row while its tables have no statistics
# yet: each part is made once, before parts are joined, so that no loop makes one again for each product.
_CHANGES = SQL("""
    with found as materialized (
        select c.line, c.record as sku, p.external_id, case when c.before is not null then c.after end as fields,
               case when c.before is null or c.after -> 'active' = 'true' then 'product.added'
                    when c.after is null or c.after -> 'active' = 'false' then 'product.removed'
                    else 'product.changed' end as type
        from ({changes}) c join product p on p.sku_key = c.key
    ), placed as (
        select *, (row_number() over (partition by type order by line nulls last, sku) - 1) / {most} as part from found
    ), named as materialized (
        select type, part, array_agg(distinct f.name) as fields
        from placed, jsonb_object_keys(placed.fields) as f (name) group by type, part
    ), parts as materialized (
        select type, part, array_agg(sku order by line nulls last, sku) as skus,
               coalesce(jsonb_object_agg(sku, external_id) filter (where external_id is not null), '{{}}')
               as external_ids
        from placed group by type, part
    )
    select type, skus, coalesce(named.fields, '{{}}') as fields, external_ids
    from parts left join named using (type, part) order by type, part
""")
_IMPORTED = Statement(
    _CHANGES.format(
        changes=SQL("select line, key, record, before, after from import_change where import_id = :import_id"),
        most=Quoted(MOST_NAMED),
    ),
    ChangedProducts,
)
_ROLLED_BACK = Statement(
    _CHANGES.format(
        changes=SQL("select line, key, record, after as before, before as after from undone"), most=Quoted(MOST_NAMED)
    ),
    ChangedProducts,
)


async def imported_products(tx: Transaction, import_id: int) -> list[ChangedProducts]:
    """Return the products that an import has changed, by event."""
    return await tx.fetch_all(_IMPORTED, import_id=import_id)


async def rolled_back_products(tx: Transaction) -> list[ChangedProducts]:
    """Return the products in `undone`, by the event that their roll-back is."""
    return await tx.fetch_all(_ROLLED_BACK)
