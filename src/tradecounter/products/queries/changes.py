"""The products that an import or its roll-back changes, as their events name them."""

from typing import Literal

from msgspec import Struct
from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

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
    prepared=False,
)


async def imported_products(tx: Transaction, import_id: int) -> list[ChangedProducts]:
    """Return the products that an import has changed, by event."""
    return await tx.fetch_all(_IMPORTED, import_id=import_id)


async def rolled_back_products(tx: Transaction) -> list[ChangedProducts]:
    """Return the products in `undone`, by the event that their roll-back is."""
    return await tx.fetch_all(_ROLLED_BACK)
