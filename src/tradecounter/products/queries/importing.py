"""SQL of the catalogue's imports."""

from typing import LiteralString

from tradecounter.db.statement import Statement

ACTIVE_AND_STAGED_NAMES = Statement("""
    select null::integer as line, key, name from attribute
    where active and key not in (select key from staged where key is not null)
    union all
    select line, key, row ->> 'name' from staged where key is not null and row ->> 'name' is not null
    order by line nulls first
""")

ATTRIBUTE_NAMES = Statement("select key, name from attribute where active")

MANUFACTURER_VIEW: LiteralString = "select key, to_jsonb(m) as row from manufacturer m"

ATTRIBUTE_VIEW: LiteralString = "select key, to_jsonb(a) as row from attribute a"

SYNONYMS_VIEW: LiteralString = "select key, to_jsonb(s) as row from synonym_group s"

CHECK_CHILDREN = Statement("""
    select s.line, format('children: %s is a top-level category with children of its own', s.key)
    from staged s
    where s.row ->> 'parent_key' is not null
      and exists (select from category c where c.parent_key = s.key and c.active
                  and c.key not in (select key from staged where key is not null))
""")

CATEGORY_VIEW: LiteralString = "select key, to_jsonb(c) as row from category c"

CHECK_CATEGORIES = Statement("""
    select s.line, format('categories: category %s does not exist', to_json(given.key))
    from staged s, jsonb_array_elements_text(s.row -> 'categories') as given (key)
    where not exists (select from category c where c.key = given.key)
""")

CHECK_LINKS = Statement("""
    select s.line, format('%s: product %s does not exist', link.name, to_json(link.sku))
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
    select coalesce(outside.line, inside.line),
           format('components: %s is a bundle, so it cannot be in the bundle %s', to_json(inside.sku),
                  to_json(outside.sku))
    from bundles outside, jsonb_to_recordset(outside.components) as component (key text), bundles inside
    where inside.key = component.key
""")

# Another product may have had the external id before.
UNDO_ADDED_PRODUCTS = Statement("""
    update product set active = false, external_id = null
    where (active or external_id is not null) and sku_key in (select key from undone where before is null)
""")

PRODUCT_VIEW: LiteralString = """
    select sku_key as key, to_jsonb(p) - '{id,sku_key,changed_at}'::text[] as row from product p
"""
