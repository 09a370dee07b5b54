"""Stock alerts: users, and the products whose stock they wait for."""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.alerts.queries.lock_alerts import lock_alerts
from tradecounter.db.pipeline import array
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class StockAlert(Struct, frozen=True):
    """A product that a user waits for. `in_stock_at` is when it was found in stock, once the user is told."""

    product_id: int
    sku: str
    name: str
    created_at: datetime
    in_stock_at: datetime | None


_ADD = Statement("""
    insert into stock_alert (user_id, product_id, created_at) values (:user_id, :product_id, :now)
    on conflict (user_id, product_id) do update set created_at = excluded.created_at, in_stock_at = null
""")


async def add_stock_alert(tx: Transaction, user_id: int, product_id: int, now: datetime) -> None:
    """Store an alert; one that was told already waits again."""
    await tx.execute(_ADD, user_id=user_id, product_id=product_id, now=now)


_COUNT = Statement("select count(*) from stock_alert where user_id = :user_id and in_stock_at is null")


async def count_stock_alerts(tx: Transaction, user_id: int) -> int:
    """Return how many products a user waits for."""
    return int(await tx.fetch_value(_COUNT, user_id=user_id))


_OF_USER = Statement(
    "select a.product_id, p.sku, p.name, a.created_at, a.in_stock_at from stock_alert a"
    " join product p on p.id = a.product_id where a.user_id = :user_id order by a.created_at desc, a.product_id",
    StockAlert,
)


async def stock_alerts_of(tx: Transaction, user_id: int) -> list[StockAlert]:
    """Return a user's alerts, the latest first."""
    return await tx.fetch_all(_OF_USER, user_id=user_id)


_REMOVE = Statement("delete from stock_alert where user_id = :user_id and product_id = :product_id")


async def remove_stock_alert(tx: Transaction, user_id: int, product_id: int) -> bool:
    """Delete an alert; return whether there was one."""
    await lock_alerts(tx, user_id)
    return await tx.execute(_REMOVE, user_id=user_id, product_id=product_id) == 1


class WaitingAlert(Struct, frozen=True):
    """A user's alert of a product that is in stock and still sold, and has not been told."""

    customer_id: int
    user_id: int
    product_id: int


# A user whose customer is blocked is told when it no longer is.
_TO_TELL = SQL("""
    from stock_alert a
    join stock_level s on s.product_id = a.product_id and s.available > 0
    join product p on p.id = a.product_id and p.active
    join customer_user u on u.id = a.user_id and u.disabled_at is null
    join customer c on c.id = u.customer_id and c.blocked_at is null
    where a.in_stock_at is null
""")
_IN_STOCK = Statement(
    SQL("select u.customer_id, a.user_id, a.product_id {} order by u.customer_id").format(_TO_TELL), WaitingAlert
)


async def waiting_in_stock(tx: Transaction) -> list[WaitingAlert]:
    """Return the alerts that wait and whose products are in stock, by customer."""
    return await tx.fetch_all(_IN_STOCK)


# Another worker may have told of one, its user may have removed it, and its product may be sold out again.
_TELL = Statement(
    SQL("""
        update stock_alert t set in_stock_at = :now
        from unnest(:user_ids::bigint[], :product_ids::bigint[]) as told (user_id, product_id)
        where t.user_id = told.user_id and t.product_id = told.product_id and t.in_stock_at is null
          and (t.user_id, t.product_id) in (select a.user_id, a.product_id {})
        returning t.user_id
    """).format(_TO_TELL)
)


async def mark_in_stock(tx: Transaction, alerts: Collection[WaitingAlert], now: datetime) -> list[int]:
    """Mark those alerts as told that still wait and whose products are still in stock; return the users to tell."""
    user_ids, product_ids = array(each.user_id for each in alerts), array(each.product_id for each in alerts)
    told = await tx.fetch_all(_TELL, user_ids=user_ids, product_ids=product_ids, now=now)
    return sorted({user_id for (user_id,) in told})


_FORGET = Statement("delete from stock_alert where in_stock_at < :before")


async def forget_told(tx: Transaction, before: datetime) -> int:
    """Delete alerts that were told before a moment; return how many."""
    return await tx.execute(_FORGET, before=before)
