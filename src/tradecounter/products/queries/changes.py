"""The products that an import or its roll-back changes, as their events name them."""

from dataclasses import dataclass
from typing import Literal

from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

MOST_NAMED = 1000  # SKUs in an event


@dataclass(frozen=True, slots=True)
class ChangedProducts:
    """Products to which the same has happened; `fields` are those of which some of them have new values."""

    type: Literal["product.added", "product.changed", "product.removed"]
    skus: list[str]
    fields: list[str]


# A product is removed when it is not active any more: its record stays. Whole records of new products are large, so
# they are not sorted.
_CHANGES = SQL("""
    with found as materialized (
        select c.line, c.record as sku, case when c.before is not null then c.after end as fields,
               case when c.before is null or c.after -> 'active' = 'true' then 'product.added'
                    when c.after is null or c.after -> 'active' = 'false' then 'product.removed'
                    else 'product.changed' end as type
        from ({changes}) c
    ), placed as (
        select *, (row_number() over (partition by type order by line nulls last, sku) - 1) / {most} as part from found
    ), named as (
        select type, part, array_agg(distinct f.name) as fields
        from placed, jsonb_object_keys(placed.fields) as f (name) group by type, part
    )
    select type, array_agg(sku order by line nulls last, sku) as skus, coalesce(named.fields, '{{}}') as fields
    from placed left join named using (type, part)
    group by type, part, named.fields order by type, part
""")
_IMPORTED = Statement(
    _CHANGES.format(
        changes=SQL("select line, record, before, after from import_change where import_id = :import_id"),
        most=Quoted(MOST_NAMED),
    ),
    ChangedProducts,
)
_ROLLED_BACK = Statement(
    _CHANGES.format(
        changes=SQL("select line, record, after as before, before as after from undone"), most=Quoted(MOST_NAMED)
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
