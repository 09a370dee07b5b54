"""SQL of the imports of prices, and of the guards that judge the staged rows before they are merged."""

from decimal import Decimal
from typing import Any, LiteralString

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.bulk.price_figures import UnknownPriceList
from tradecounter.db.statement import Statement

# The costs of 1, 5 and 10 units; a break that is missing has the cost of the next lower one.
_AFTER: LiteralString = """
    (s.row ->> 'single')::numeric as after_one,
    coalesce(s.row ->> 'five_plus', s.row ->> 'single')::numeric as after_five,
    coalesce(s.row ->> 'ten_plus', s.row ->> 'five_plus', s.row ->> 'single')::numeric as after_ten
"""
_BEFORE: LiteralString = """
    b.single_unit_cost as before_one, coalesce(b.five_plus_unit_cost, b.single_unit_cost) as before_five,
    coalesce(b.ten_plus_unit_cost, b.five_plus_unit_cost, b.single_unit_cost) as before_ten
"""


def _judge(owner: LiteralString, stored: LiteralString) -> Statement[Any]:
    """Return the statement that creates `judged`, with the guarded rows marked as `prices/importing.py` says.

    A row whose first cost could not be read is not guarded: a partial import leaves it out. Without `offset`, the costs
    would be computed from JSON wherever they are compared.
    """
    sql = SQL(
        """
        create temporary table judged on commit drop as
        select *, coalesce(
            case when after_one is null then false
            when before_one is null
            then least(after_one, after_five, after_ten) = 0
              or least(after_one, after_five, after_ten) < purchase_cost
            else (after_one < before_one and (after_one < purchase_cost or after_one * 2 < before_one))
              or (after_five < before_five and (after_five < purchase_cost or after_five * 2 < before_five))
              or (after_ten < before_ten and (after_ten < purchase_cost or after_ten * 2 < before_ten))
            end, false) as guarded
        from (
            select s.line, p.id as product_id, p.sku, p.purchase_cost, {owner}, {after}, {before}
            from staged s join product p on p.sku_key = s.row ->> 'sku_key' {stored}
            offset 0
        ) as compared
        where (after_one, after_five, after_ten) is distinct from (before_one, before_five, before_ten)
        """
    )
    parts = {"owner": SQL(owner), "stored": SQL(stored), "after": SQL(_AFTER), "before": SQL(_BEFORE)}
    return Statement(sql.format(**parts))


JUDGE_PRICES = _judge(
    "s.row ->> 'price_list' as price_list, null::bigint as customer_id",
    "left join price b on b.price_list = s.row ->> 'price_list' and b.product_id = p.id",
)

# A contract's price for another period is no first price: it is compared with that of the period before, or else of
# the period after.
JUDGE_CONTRACT_PRICES = _judge(
    "null as price_list, (s.row ->> 'customer_id')::bigint as customer_id",
    """
    cross join lateral (select (s.row ->> 'valid_from')::date as start) as period
    left join lateral (
        select c.* from contract_price c
        where c.customer_id = (s.row ->> 'customer_id')::bigint and c.product_id = p.id
        order by c.valid_from is not distinct from period.start desc,
                 coalesce(c.valid_from, '-infinity') < coalesce(period.start, '-infinity') desc,
                 case when coalesce(c.valid_from, '-infinity') < coalesce(period.start, '-infinity')
                      then coalesce(c.valid_from, '-infinity') end desc,
                 c.valid_from
        limit 1
    ) b on true
    """,
)


class Judgement(Struct, frozen=True):
    """How many prices change, how much, in per cent, and how many end below cost."""

    raised: int
    lowered: int
    largest_rise: Decimal | None
    largest_fall: Decimal | None
    below_cost: int
    guarded: int


_PER_CENT: LiteralString = """
    ((after_one - before_one) * 100 / nullif(before_one, 0)),
    ((after_five - before_five) * 100 / nullif(before_five, 0)),
    ((after_ten - before_ten) * 100 / nullif(before_ten, 0))
"""
COUNT_JUDGED = Statement(
    SQL(
        """
        select count(*) filter (where rises) as raised, count(*) filter (where falls) as lowered,
               round(max(rise) filter (where rises), 2) as largest_rise,
               round(min(fall) filter (where falls), 2) as largest_fall,
               count(*) filter (where below_cost) as below_cost,
               count(*) filter (where guarded) as guarded
        from (
            select guarded, least(after_one, after_five, after_ten) < purchase_cost as below_cost,
                   greatest({per_cent}) as rise, least({per_cent}) as fall,
                   after_one > before_one or after_five > before_five or after_ten > before_ten as rises,
                   after_one < before_one or after_five < before_five or after_ten < before_ten as falls
            from judged
        ) as measured
        """
    ).format(per_cent=SQL(_PER_CENT)),
    Judgement,
)


class GuardedRow(Struct, frozen=True):
    """A guarded row, with the costs of its three breaks before and after; `before` is None for a first price."""

    line: int
    price_list: str | None
    customer_id: int | None
    sku: str
    purchase_cost: Decimal | None
    before: list[Decimal] | None
    after: list[Decimal]


GUARDED = Statement(
    """
    select line, price_list, customer_id, sku, purchase_cost,
           case when before_one is not null then array[before_one, before_five, before_ten] end as before,
           array[after_one, after_five, after_ten] as after
    from judged where guarded order by line limit :most
    """,
    GuardedRow,
)

NEW_PRICE_LISTS = Statement(
    """
    select price_list, min(line) as line, count(*)::integer as rows
    from (select row ->> 'price_list' as price_list, line from staged) as named
    where price_list <> 'default' and not exists (select from price p where p.price_list = named.price_list)
      and not exists (
          select from removed_price r where r.price_list = named.price_list and r.changed_by = pg_current_xact_id())
      and not exists (select from customer c where c.price_list = named.price_list)
    group by price_list order by min(line)
    """,
    UnknownPriceList,
)

LINES_OF_LISTS = Statement("select line from staged where row ->> 'price_list' = any(:price_lists)")

# Prices that `replace` has deleted in this transaction concern customers too.
_TOUCHED: LiteralString = """
    touched as materialized (
        select price_list, customer_id, product_id from judged
        union all
        select price_list, customer_id, product_id from removed_price where changed_by = pg_current_xact_id()
    )
"""

CUSTOMERS_OF_LISTS = Statement(
    SQL(
        """
        with {touched}, lists as (
            select price_list, count(*) as customers from customer group by price_list
        )
        select coalesce(sum(customers), 0)::bigint from lists l
        where coalesce(l.price_list, 'default') in (select price_list from touched)
           or exists (
               select from touched t
               where t.price_list = 'default' and not exists (
                   select from price own where own.price_list = l.price_list and own.product_id = t.product_id))
        """
    ).format(touched=SQL(_TOUCHED)),
)
CUSTOMERS_OF_CONTRACTS = Statement(
    SQL("with {touched} select count(distinct customer_id) from touched").format(touched=SQL(_TOUCHED)),
)
DROP_JUDGED = Statement("drop table judged")


LOCK_PRODUCTS = Statement("lock table product in share mode")

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

_DELETE_NAMED_PRICES = SQL("""
    with gone as (
        delete from price l using product p
        where p.id = l.product_id
          and (l.price_list, p.sku_key) in (select split_part(key, chr(31), 1), split_part(key, chr(31), 2) from {})
        returning l.price_list, l.product_id
    )
    insert into removed_price (price_list, product_id) select * from gone
""")
END_PRICES = Statement(_DELETE_NAMED_PRICES.format(SQL("unnest(:keys::text[]) as named (key)")))
DELETE_ADDED_PRICES = Statement(_DELETE_NAMED_PRICES.format(SQL("undone where before is null")))

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
