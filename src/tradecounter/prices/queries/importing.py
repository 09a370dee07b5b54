"""SQL of the imports of prices."""

from typing import LiteralString

from tradecounter.db.statement import Statement

MERGE_PRICES = Statement("""
    with lists as (
        insert into price_list (key) select distinct s.row ->> 'price_list' from staged s
        on conflict do nothing
    )
    insert into price (price_list, product_id, single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost, changed_by)
    select s.row ->> 'price_list', p.id, (s.row ->> 'single')::numeric, (s.row ->> 'five_plus')::numeric,
           (s.row ->> 'ten_plus')::numeric, pg_current_xact_id()
    from staged s join product p on p.sku_key = s.row ->> 'sku_key'
    on conflict (price_list, product_id) do update
    set single_unit_cost = excluded.single_unit_cost, five_plus_unit_cost = excluded.five_plus_unit_cost,
        ten_plus_unit_cost = excluded.ten_plus_unit_cost, changed_by = excluded.changed_by
    where (price.single_unit_cost, price.five_plus_unit_cost, price.ten_plus_unit_cost)
          is distinct from
          (excluded.single_unit_cost, excluded.five_plus_unit_cost, excluded.ten_plus_unit_cost)
    returning xmax = 0
""")

DELETE_PRICES = Statement("""
    with gone as (
        delete from price
        where price_list in (select s.row ->> 'price_list' from staged s)
          and (price_list, product_id) not in (
              select s.row ->> 'price_list', p.id from staged s join product p on p.sku_key = s.row ->> 'sku_key')
        returning price_list, product_id
    )
    insert into removed_price (price_list, product_id) select * from gone
""")

END_PRICES = Statement("""
    with gone as (
        delete from price l using product p
        where p.id = l.product_id
          and (l.price_list, p.sku_key) in (
              select split_part(key, chr(31), 1), split_part(key, chr(31), 2) from unnest(:keys::text[]) as named (key))
        returning l.price_list, l.product_id
    )
    insert into removed_price (price_list, product_id) select * from gone
""")

COUNT_PRICES = Statement("select count(*) from price where price_list in (select s.row ->> 'price_list' from staged s)")

PRICE_VIEW: LiteralString = """
    select l.price_list || chr(31) || p.sku_key as key,
           jsonb_build_object(
               'price_list', l.price_list, 'sku', p.sku, 'single_unit_cost', l.single_unit_cost,
               'five_plus_unit_cost', l.five_plus_unit_cost, 'ten_plus_unit_cost', l.ten_plus_unit_cost
           ) as row
    from price l join product p on p.id = l.product_id
"""

RESTORED_PRICE: LiteralString = """
    jsonb_build_object(
        'price_list', split_part(key, chr(31), 1), 'sku_key', split_part(key, chr(31), 2),
        'single', before -> 'single_unit_cost', 'five_plus', before -> 'five_plus_unit_cost',
        'ten_plus', before -> 'ten_plus_unit_cost')
"""

DELETE_ADDED_PRICES = Statement("""
    with gone as (
        delete from price l using product p
        where p.id = l.product_id
          and (l.price_list, p.sku_key) in (
              select split_part(key, chr(31), 1), split_part(key, chr(31), 2) from undone where before is null)
        returning l.price_list, l.product_id
    )
    insert into removed_price (price_list, product_id) select * from gone
""")

MERGE_CONTRACT_PRICES = Statement("""
    insert into contract_price (customer_id, product_id, single_unit_cost, five_plus_unit_cost,
                                ten_plus_unit_cost, valid_from, valid_until, changed_by)
    select (s.row ->> 'customer_id')::bigint, p.id, (s.row ->> 'single')::numeric,
           (s.row ->> 'five_plus')::numeric, (s.row ->> 'ten_plus')::numeric,
           (s.row ->> 'valid_from')::date, (s.row ->> 'valid_until')::date, pg_current_xact_id()
    from staged s join product p on p.sku_key = s.row ->> 'sku_key'
    on conflict (customer_id, product_id, valid_from) do update
    set single_unit_cost = excluded.single_unit_cost, five_plus_unit_cost = excluded.five_plus_unit_cost,
        ten_plus_unit_cost = excluded.ten_plus_unit_cost, valid_until = excluded.valid_until,
        changed_by = excluded.changed_by
    where (contract_price.single_unit_cost, contract_price.five_plus_unit_cost,
           contract_price.ten_plus_unit_cost, contract_price.valid_until)
          is distinct from
          (excluded.single_unit_cost, excluded.five_plus_unit_cost, excluded.ten_plus_unit_cost,
           excluded.valid_until)
    returning xmax = 0
""")

DELETE_CONTRACT_PRICES = Statement("""
    with gone as (
        delete from contract_price c using product p
        where p.id = c.product_id
          and c.customer_id in (select (s.row ->> 'customer_id')::bigint from staged s)
          and not exists (
              select from staged s
              where (s.row ->> 'customer_id')::bigint = c.customer_id and s.row ->> 'sku_key' = p.sku_key
                and (s.row ->> 'valid_from')::date is not distinct from c.valid_from)
        returning c.customer_id, c.product_id
    )
    insert into removed_price (customer_id, product_id) select * from gone
""")

COUNT_CONTRACT_PRICES = Statement("""
    select count(*) from contract_price
    where customer_id in (select (s.row ->> 'customer_id')::bigint from staged s)
""")

CONTRACT_PRICE_VIEW: LiteralString = """
    select concat_ws(chr(31), c.customer_id, p.sku_key, coalesce(c.valid_from::text, 'None')) as key,
           jsonb_build_object(
               'customer_id', c.customer_id, 'sku', p.sku, 'single_unit_cost', c.single_unit_cost,
               'five_plus_unit_cost', c.five_plus_unit_cost, 'ten_plus_unit_cost', c.ten_plus_unit_cost,
               'valid_from', c.valid_from, 'valid_until', c.valid_until
           ) as row
    from contract_price c join product p on p.id = c.product_id
"""

RESTORED_CONTRACT_PRICE: LiteralString = """
    jsonb_build_object(
        'customer_id', split_part(key, chr(31), 1), 'sku_key', split_part(key, chr(31), 2),
        'single', before -> 'single_unit_cost', 'five_plus', before -> 'five_plus_unit_cost',
        'ten_plus', before -> 'ten_plus_unit_cost', 'valid_from', nullif(split_part(key, chr(31), 3), 'None'),
        'valid_until', before -> 'valid_until')
"""

DELETE_ADDED_CONTRACT_PRICES = Statement("""
    with gone as (
        delete from contract_price c using product p
        where p.id = c.product_id
          and concat_ws(chr(31), c.customer_id, p.sku_key, coalesce(c.valid_from::text, 'None'))
              in (select key from undone where before is null)
        returning c.customer_id, c.product_id
    )
    insert into removed_price (customer_id, product_id) select * from gone
""")
