"""Reads what an order needs of a few products, with a customer's prices and stock, in one statement."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.changes import Topic
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.prices.queries.prices import COSTS, DAYS, READABLE
from tradecounter.products.queries.records import ORDERABLE_CELLS

# What a view shows, except the stock levels, which have no version.
TOPICS: tuple[Topic, ...] = ("catalogue", "prices", "contracts", "customers", "deliveries")

Several = Sequence[Sequence[Any]] | None


class CurrentProduct(Struct, frozen=True):
    """A product, with its customer's terms; lists are None if they are empty.

    `cells` are those of an orderable record. `lists`: key and costs. `contracts`: costs, first and last day, in order
    of the first day. `deliveries`: units and microseconds since 1970, in order. Costs and days are as in
    `prices/queries/prices.py`.
    """

    id: int
    cells: Sequence[Any]
    lists: Several
    contracts: Several
    deliveries: Several
    available: int
    back_ordered: int
    price_list: str | None
    discount: int
    trade_account: bool


# One statement, so that it sees one state of the database. The planner takes each bundle for a hundred components, and
# would read the whole catalogue instead of them: `offset 0` has it look each product up by index.
_CURRENT_PRODUCTS = Statement(
    SQL(
        """
        with named as (
            select id, components from product
            where sku_key = any(array(select json_array_elements_text(:sku_keys::json)))
        ), wanted as (
            select id from named
            union
            select part.id from named cross join lateral jsonb_array_elements(
                case jsonb_typeof(components) when 'array' then components else '[]' end
            ) as component
            cross join lateral (select id from product where sku_key = component ->> 'key' offset 0) as part
        )
        select p.id, json_build_array({cells}) as cells,
               (select json_agg(json_build_array(key, single, five_plus, ten_plus))
                from (values ('default'), (c.price_list)) as own (key) cross join lateral (
                    select {costs} from price, {readable} where price_list = own.key and product_id = p.id
                ) as listed) as lists,
               (select json_agg(json_build_array(single, five_plus, ten_plus, first_day, last_day)
                                order by first_day, id)
                from (select id, {costs}, {days} from contract_price, {readable}
                      where customer_id = c.id and product_id = p.id) as agreed) as contracts,
               (select json_agg(json_build_array(incoming, (extract(epoch from expected_on) * 1000000)::bigint)
                                order by expected_on)
                from incoming_stock
                where product_id = p.id and expected_on between '2000-01-01' and '9999-01-01') as deliveries,
               coalesce(level.available, 0)::bigint as available, coalesce(level.back_ordered, 0)::bigint
                   as back_ordered,
               c.price_list, (c.discount * 100)::integer as discount, c.trade_account
        from wanted cross join lateral (select * from product where id = wanted.id offset 0) as p
        left join lateral (
            select available, back_ordered from stock_level where product_id = p.id offset 0
        ) as level on true
        cross join customer as c
        where c.id = :customer_id
        """
    ).format(cells=SQL(ORDERABLE_CELLS), costs=SQL(COSTS), days=SQL(DAYS), readable=SQL(READABLE)),
    CurrentProduct,
)


async def read_current_products(tx: Transaction, customer_id: int, sku_keys: Iterable[str]) -> list[CurrentProduct]:
    """Return the products with these folded SKUs, and the components of those that are bundles; inactive ones too."""
    async with tx.pipeline() as p:
        result = p.fetch(_CURRENT_PRODUCTS, customer_id=customer_id, sku_keys=json_of(list(sku_keys)))
    return result.rows
