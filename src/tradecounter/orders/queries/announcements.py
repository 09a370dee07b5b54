"""The changes of prices and stock since the last announcement, by the customers whom they concern."""

from datetime import date, datetime

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class Announced(Struct, frozen=True):
    """When changes were announced last; `new_prices` is whether prices were imported since.

    `snapshot` shows the changes to announce now. `is_foreign` is whether the last announcement was made by another
    cluster, whose transactions had higher numbers.
    """

    at: datetime
    price_version: int
    new_prices: bool
    snapshot: str
    is_foreign: bool


class RecentOrders(Struct, frozen=True):
    """Orders that were created since a moment; all with lower ids than `first_id` are older."""

    since: datetime
    first_id: int


class ChangedSkus(Struct, frozen=True):
    """The first SKUs that changed for a customer, or with None for the reseller; and whether there are more."""

    customer_id: int | None
    skus: list[str]
    more: bool


_LOCK = Statement(
    """
    select a.at, c.version as price_version, c.version <> a.price_version as new_prices,
           pg_current_snapshot()::text as snapshot,
           pg_snapshot_xmax(a.seen) > pg_snapshot_xmax(pg_current_snapshot()) as is_foreign
    from announced a
    cross join (
        select coalesce(sum(version), 0)::bigint as version from change where topic in ('prices', 'contracts')
    ) c
    for update of a skip locked
    """,
    Announced,
)


async def lock_announced(tx: Transaction) -> Announced | None:
    """Return the state of the announcements, locked; None when another process has locked it."""
    return await tx.find_row(_LOCK)


# The last order that was placed before the moment was also created before it, and so were those with lower ids.
_ORDERS_FROM = Statement(
    """
    update announced set orders_from = greatest(orders_from, (
        select id from orders where coalesce(confirmed_at, created_at) < :since
        order by coalesce(confirmed_at, created_at) desc, id desc limit 1
    )) returning orders_from
    """
)


async def orders_since(tx: Transaction, since: datetime) -> RecentOrders:
    """Note from where on orders are recent, and return it."""
    return RecentOrders(since, int(await tx.fetch_value(_ORDERS_FROM, since=since)))


# A row that changes again after the snapshot is announced the next time.
_SINCE = SQL(
    "{t}.changed_by >= pg_snapshot_xmin(a.seen) and not pg_visible_in_snapshot({t}.changed_by, a.seen)"
    " and pg_visible_in_snapshot({t}.changed_by, :snapshot::pg_snapshot)"
)
_REMOVED = SQL("pg_visible_in_snapshot(changed_by, :snapshot::pg_snapshot)")

# If a tenth of all products has changed, reading all orders of the time costs less than those of each product.
_SIZE = SQL("select 10 * count(distinct product_id) >= (select count(*) from product) as most_products from changed")
# An order concerns its customer while units are back-ordered, and for some time after its creation. `offset 0` keeps
# the planner from reading all orders of that time, instead of those of the changed products, by their index.
_ORDERED = SQL(
    """
    select o.customer_id, l.product_id
    from (select distinct product_id from changed where not (select most_products from size)) c cross join lateral (
        select product_id, order_id from order_line
        where product_id = c.product_id and order_id >= :orders_from offset 0
    ) l join orders o on o.id = l.order_id
    where o.created_at >= :since and o.state = 'confirmed'
    union
    select o.customer_id, l.product_id
    from orders o join order_line l on l.order_id = o.id
    where (select most_products from size) and o.id >= :orders_from and l.order_id >= :orders_from
      and o.created_at >= :since and o.state = 'confirmed' and l.product_id in (select product_id from changed)
    union
    select o.customer_id, l.product_id
    from order_line l join orders o on o.id = l.order_id
    where l.back_ordered > 0 and l.product_id in (select product_id from changed) and o.state = 'confirmed'
    """
)
_CHANGED_STOCK = Statement(
    SQL(
        """
        with changed as materialized (
            select s.product_id from stock_level s cross join announced a where {since}
        ), size as materialized ({size}), concerned as (
            select customer_id, product_id from ({ordered}) as ordered
            union
            select c.customer_id, c.product_id from changed join contract_price c using (product_id)
            where coalesce(c.valid_until >= :today, true)
            union
            select null, product_id from changed
        )
        select c.customer_id, (array_agg(p.sku order by p.sku))[1:{most}] as skus, count(*) > {most} as more
        from concerned c join product p on p.id = c.product_id group by c.customer_id order by c.customer_id nulls first
        """
    ).format(since=_SINCE.format(t=SQL("s")), size=_SIZE, ordered=_ORDERED, most=SQL("1000")),
    ChangedSkus,
)

_CHANGED_PRICES = Statement(
    SQL(
        """
        with changed as materialized (
            select p.price_list, p.product_id from price p cross join announced a where {since_price}
            union
            select price_list, product_id from removed_price where price_list is not null and {removed}
        ), contracts as materialized (
            select c.customer_id, c.product_id from contract_price c cross join announced a where {since_contract}
            union
            select customer_id, product_id from removed_price where customer_id is not null and {removed}
            union
            select customer_id, product_id
            from contract_price cross join (select (at at time zone 'Europe/London')::date as last from announced) as a
            where (valid_from > last and valid_from <= :today) or (valid_until >= last and valid_until < :today)
        ), size as materialized ({size}), concerned as (
            select c.id as customer_id, product_id
            from ({ordered}) as ordered join changed using (product_id) join customer c on c.id = ordered.customer_id
            where changed.price_list = coalesce(c.price_list, 'default')
               or (changed.price_list = 'default' and not exists (
                   select from price own where own.price_list = c.price_list and own.product_id = changed.product_id))
            union
            select customer_id, product_id from contracts
            union
            select null, product_id from changed
            union
            select null, product_id from contracts
        )
        select c.customer_id, (array_agg(p.sku order by p.sku))[1:{most}] as skus, count(*) > {most} as more
        from concerned c join product p on p.id = c.product_id group by c.customer_id order by c.customer_id nulls first
        """
    ).format(
        since_price=_SINCE.format(t=SQL("p")),
        since_contract=_SINCE.format(t=SQL("c")),
        removed=_REMOVED,
        size=_SIZE,
        ordered=_ORDERED,
        most=SQL("1000"),
    ),
    ChangedSkus,
)


async def changed_stock(tx: Transaction, snapshot: str, recent: RecentOrders, today: date) -> list[ChangedSkus]:
    """Return the SKUs whose stock changed, for the reseller and for each customer whom they concern.

    They concern customers who have them back-ordered, have a recent order for them that was confirmed, or have contract
    prices for them today or later.
    """
    return await tx.fetch_all(
        _CHANGED_STOCK, snapshot=snapshot, since=recent.since, orders_from=recent.first_id, today=today
    )


async def changed_prices(tx: Transaction, snapshot: str, recent: RecentOrders, today: date) -> list[ChangedSkus]:
    """Return the SKUs whose prices changed, as `changed_stock` does.

    A change of a price list concerns those of its customers who have such orders; one of a contract its customer. A
    contract price that has begun or ended since the UK day of the last announcement has changed, too.
    """
    return await tx.fetch_all(
        _CHANGED_PRICES, snapshot=snapshot, since=recent.since, orders_from=recent.first_id, today=today
    )


_STORE = Statement("update announced set at = :now, seen = :snapshot::pg_snapshot, price_version = :price_version")
_FORGET_REMOVED = Statement(SQL("delete from removed_price where {}").format(_REMOVED))


async def store_announced(tx: Transaction, announced: Announced, now: datetime) -> None:
    """Note that the changes in the snapshot are announced."""
    await tx.execute(_FORGET_REMOVED, snapshot=announced.snapshot)
    await tx.execute(_STORE, now=now, snapshot=announced.snapshot, price_version=announced.price_version)
