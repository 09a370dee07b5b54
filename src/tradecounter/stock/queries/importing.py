"""SQL of the imports of stock."""

from typing import LiteralString

from psycopg.sql import SQL

from tradecounter.db.statement import Statement

_MERGE_LEVELS = SQL("""
    insert into stock_level (product_id, available, location)
    select p.id, {available}, coalesce(s.row ->> 'location', l.location, '')
    from staged s join product p on p.sku_key = s.key left join stock_level l on l.product_id = p.id
    order by p.id
    on conflict (product_id) do update
    set available = excluded.available, location = excluded.location,
        changed_by = case when stock_level.available = excluded.available then stock_level.changed_by
                          else pg_current_xact_id() end
    where (stock_level.available, stock_level.location) <> (excluded.available, excluded.location)
    returning xmax = 0
""")
MERGE_LEVELS = Statement(
    _MERGE_LEVELS.format(available=SQL("coalesce((s.row ->> 'available')::bigint, l.available, 0)"))
)
MERGE_ON_HAND = Statement(
    _MERGE_LEVELS.format(available=SQL("greatest((s.row ->> 'available')::bigint - coalesce(l.allocated, 0), 0)"))
)

CLEAR_LEVELS = Statement("""
    update stock_level set available = 0, changed_by = pg_current_xact_id()
    where available > 0
      and product_id not in (select p.id from staged s join product p on p.sku_key = s.key)
""")

COUNT_LEVELS = Statement("select count(*) from stock_level where available > 0")

LEVEL_VIEW: LiteralString = """
    select p.sku_key as key, jsonb_build_object('sku', p.sku, 'available', l.available, 'location', l.location) as row
    from stock_level l join product p on p.id = l.product_id
"""

# A level stays, with no units: orders may have been allocated units of it.
CLEAR_ADDED_LEVELS = Statement("""
    update stock_level s set available = 0, changed_by = pg_current_xact_id()
    from product p
    where p.id = s.product_id and s.available > 0 and p.sku_key in (select key from undone where before is null)
""")

WARN_OF_ALLOCATED = Statement("""
    select s.line, 'available', format('%s on hand, but %s are allocated to orders', s.row ->> 'available',
                          l.allocated)
    from staged s join product p on p.sku_key = s.key join stock_level l on l.product_id = p.id
    where l.allocated > (s.row ->> 'available')::bigint
""")

MERGE_DELIVERIES = Statement("""
    insert into incoming_stock (product_id, expected_on, incoming)
    select p.id, (s.row ->> 'expected_on')::timestamptz, (s.row ->> 'incoming')::integer
    from staged s join product p on p.sku_key = s.row ->> 'sku_key'
    on conflict (product_id, expected_on) do update set incoming = excluded.incoming
    where incoming_stock.incoming <> excluded.incoming
    returning xmax = 0
""")

DELETE_DELIVERIES = Statement("""
    delete from incoming_stock i using product p
    where p.id = i.product_id
      and not exists (
          select from staged s
          where s.row ->> 'sku_key' = p.sku_key and (s.row ->> 'expected_on')::timestamptz = i.expected_on)
""")

COUNT_DELIVERIES = Statement("select count(*) from incoming_stock")

DELIVERY_VIEW: LiteralString = """
    select p.sku_key || chr(31)
               || to_char(i.expected_on at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"') as key,
           jsonb_build_object(
               'sku', p.sku, 'incoming', i.incoming,
               'expected_on', to_char(i.expected_on at time zone 'Europe/London', 'YYYY-MM-DD"T"HH24:MI:SS')
           ) as row
    from incoming_stock i join product p on p.id = i.product_id
"""

RESTORED_DELIVERY: LiteralString = """
    jsonb_build_object(
        'sku_key', split_part(key, chr(31), 1), 'expected_on', split_part(key, chr(31), 2),
        'incoming', before -> 'incoming')
"""

DELETE_ADDED_DELIVERIES = Statement("""
    delete from incoming_stock i using product p
    where p.id = i.product_id
      and (p.sku_key, i.expected_on) in (
          select split_part(key, chr(31), 1), split_part(key, chr(31), 2)::timestamptz
          from undone where before is null)
""")
