"""Stock alerts, price alerts, and the e-mails on parcels and invoices that users choose."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from psycopg.sql import SQL

from tradecounter.access.queries.people import lock_user
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class StockAlert(Struct, frozen=True):
    """A product that a user waits for. `in_stock_at` is when it was found in stock, once the user is told."""

    product_id: int
    sku: str
    name: str
    created_at: datetime
    in_stock_at: datetime | None


_ADD_STOCK_ALERT = Statement("""
    insert into stock_alert (user_id, product_id, created_at) values (:user_id, :product_id, :now)
    on conflict (user_id, product_id) do update set created_at = excluded.created_at, in_stock_at = null
""")


async def add_stock_alert(tx: Transaction, user_id: int, product_id: int, now: datetime) -> None:
    """Store an alert; one that was told already waits again."""
    await tx.execute(_ADD_STOCK_ALERT, user_id=user_id, product_id=product_id, now=now)


_STOCK_ALERTS_OF = Statement(
    "select a.product_id, p.sku, p.name, a.created_at, a.in_stock_at from stock_alert a"
    " join product p on p.id = a.product_id where a.user_id = :user_id order by a.created_at desc, a.product_id",
    StockAlert,
)


async def stock_alerts_of(tx: Transaction, user_id: int) -> list[StockAlert]:
    """Return a user's alerts, the latest first."""
    return await tx.fetch_all(_STOCK_ALERTS_OF, user_id=user_id)


_REMOVE_STOCK_ALERT = Statement("delete from stock_alert where user_id = :user_id and product_id = :product_id")


async def remove_stock_alert(tx: Transaction, user_id: int, product_id: int) -> bool:
    """Delete an alert; return whether there was one."""
    lock_user(tx, user_id)  # before the alert, as an erasure does, since its change is noted there
    return await tx.execute(_REMOVE_STOCK_ALERT, user_id=user_id, product_id=product_id) == 1


class WaitingAlert(Struct, frozen=True):
    """A user's alert of a product that is in stock and still sold, and has not been told."""

    customer_id: int
    user_id: int
    product_id: int


# A user whose customer is blocked is told when it no longer is.
_FROM_WAITING = SQL("""
    from stock_alert a
    join stock_level s on s.product_id = a.product_id and s.available > 0
    join product p on p.id = a.product_id and p.active
    join customer_user u on u.id = a.user_id and u.disabled_at is null
    join customer c on c.id = u.customer_id and c.blocked_at is null
    where a.in_stock_at is null
""")
_WAITING_IN_STOCK = Statement(
    SQL("""
        select u.customer_id, a.user_id, a.product_id {} and a.user_id > :after
        order by a.user_id fetch first :most rows with ties
    """).format(_FROM_WAITING),
    WaitingAlert,
)


async def waiting_in_stock(tx: Transaction, after: int, most: int) -> list[WaitingAlert]:
    """Return at least `most` alerts that wait and whose products are in stock, or all.

    They are by user, of users after an id; of the last user they are all.
    """
    return await tx.fetch_all(_WAITING_IN_STOCK, after=after, most=most)


# Another worker may have told of one, its user may have removed it, and its product may be sold out again.
_MARK_IN_STOCK = Statement(
    SQL("""
        update stock_alert t set in_stock_at = :now
        from unnest(:user_ids::bigint[], :product_ids::bigint[]) as told (user_id, product_id)
        where t.user_id = told.user_id and t.product_id = told.product_id and t.in_stock_at is null
          and (t.user_id, t.product_id) in (select a.user_id, a.product_id {})
        returning t.user_id
    """).format(_FROM_WAITING)
)


async def mark_in_stock(tx: Transaction, alerts: Collection[WaitingAlert], now: datetime) -> list[int]:
    """Mark those alerts as told that still wait and whose products are still in stock; return the users to tell."""
    user_ids, product_ids = [alert.user_id for alert in alerts], [alert.product_id for alert in alerts]
    rows = await tx.fetch_all(_MARK_IN_STOCK, user_ids=user_ids, product_ids=product_ids, now=now)
    return sorted({user_id for (user_id,) in rows})


_FORGET_TOLD = Statement("delete from stock_alert where in_stock_at < :before")


async def forget_told(tx: Transaction, before: datetime) -> int:
    """Delete alerts that were told before a moment; return how many."""
    return await tx.execute(_FORGET_TOLD, before=before)


ChangedPrices = Mapping[str, Sequence[str | None]]


class PriceAlert(Struct, frozen=True):
    """A list whose prices a user follows. `known` has the price of a unit by product id, as a text or None.

    `changes` is what the user is told of each day, such as `2026-11-30`: pairs of before and after by product id.
    """

    user_id: int
    customer_id: int
    list_id: int
    name: str
    known: Mapping[str, str | None]
    changes: Mapping[str, ChangedPrices]


_PRICE_ALERTS = """
    select a.user_id, l.customer_id, a.list_id, l.name, a.known, a.changes
    from price_alert a join saved_list l on l.id = a.list_id
"""
_PUT_PRICE_ALERT = Statement("""
    insert into price_alert (user_id, list_id, known, checked_on) values (:user_id, :list_id, :known::jsonb, :today)
    on conflict (user_id, list_id) do update set known = excluded.known, checked_on = excluded.checked_on
""")
_REMOVE_PRICE_ALERT = Statement("delete from price_alert where user_id = :user_id and list_id = :list_id")
# A shared list may have become the own one of a colleague.
_IS_VISIBLE = "(l.user_id is null or l.user_id = a.user_id)"
_PRICE_ALERTS_OF = Statement(
    f"{_PRICE_ALERTS} where a.user_id = :user_id and {_IS_VISIBLE} order by lower(l.name), a.list_id", PriceAlert
)
_ALERTS_TO_CHECK = Statement(
    f"""
    {_PRICE_ALERTS}
    join customer_user u on u.id = a.user_id join customer c on c.id = u.customer_id
    where a.checked_on < :today and u.disabled_at is null and c.blocked_at is null
      and {_IS_VISIBLE}
    order by a.checked_on, a.user_id, a.list_id limit :most for update of a skip locked
    """,
    PriceAlert,
)
_STORE_CHECK = Statement("""
    update price_alert set known = :known::jsonb, changes = :changes::jsonb, checked_on = :today
    where user_id = :user_id and list_id = :list_id
""")
_PRODUCTS_OF_LIST = Statement("""
    select n.product_id, p.sku, p.name from saved_list_line n join product p on p.id = n.product_id
    where n.list_id = :list_id order by n.position
""")


async def put_price_alert(
    tx: Transaction, user_id: int, list_id: int, known: Mapping[str, str | None], today: date
) -> None:
    """Store that a user follows the prices of a list, and knows these."""
    await tx.execute(_PUT_PRICE_ALERT, user_id=user_id, list_id=list_id, known=json_of(known), today=today)


async def remove_price_alert(tx: Transaction, user_id: int, list_id: int) -> bool:
    """Delete an alert; return whether there was one."""
    return await tx.execute(_REMOVE_PRICE_ALERT, user_id=user_id, list_id=list_id) == 1


async def price_alerts_of(tx: Transaction, user_id: int) -> list[PriceAlert]:
    """Return a user's price alerts, by the names of the lists."""
    return await tx.fetch_all(_PRICE_ALERTS_OF, user_id=user_id)


async def alerts_to_check(tx: Transaction, today: date, most: int) -> list[PriceAlert]:
    """Return alerts that were not checked today, the oldest first, and lock them. Others that check leave them out."""
    return await tx.fetch_all(_ALERTS_TO_CHECK, today=today, most=most)


async def store_check(
    tx: Transaction,
    alert: PriceAlert,
    known: Mapping[str, str | None],
    changes: Mapping[str, ChangedPrices],
    today: date,
) -> None:
    """Store the prices that a user now knows, and what has changed, by day."""
    key: dict[str, Any] = {"user_id": alert.user_id, "list_id": alert.list_id}
    await tx.execute(_STORE_CHECK, known=json_of(known), changes=json_of(changes), today=today, **key)


async def products_of_list(tx: Transaction, list_id: int) -> dict[int, tuple[str, str]]:
    """Return the SKU and the name of each product of a list, by its id, in order."""
    return {product_id: (sku, name) for product_id, sku, name in await tx.fetch_all(_PRODUCTS_OF_LIST, list_id=list_id)}


AlertKind = Literal["dispatched", "invoices_due"]
Emails = Annotated[
    list[AlertKind],
    Meta(description="`dispatched`: each parcel, for buyers. `invoices_due`: three days before, for `accounts`."),
]

_CHOSEN = Statement("select kind from chosen_alert where user_id = :user_id")
_LEAVE_OUT = Statement("delete from chosen_alert where user_id = :user_id and kind <> all(:kinds::text[])")
_CHOOSE = Statement("""
    insert into chosen_alert (user_id, kind, told_until)
    select :user_id, kind, :now from unnest(:kinds::text[]) as chosen (kind)
    on conflict (user_id, kind) do nothing
""")


async def chosen_alerts_of(tx: Transaction, user_id: int) -> set[str]:
    """Return the kinds of alerts that a user has chosen."""
    return {kind for (kind,) in await tx.fetch_all(_CHOSEN, user_id=user_id)}


async def choose_alerts(tx: Transaction, user_id: int, kinds: Collection[AlertKind], now: datetime) -> None:
    """Store the kinds of alerts that a user wants; the others end."""
    await tx.execute(_LEAVE_OUT, user_id=user_id, kinds=list(kinds))
    await tx.execute(_CHOOSE, user_id=user_id, kinds=list(kinds), now=now)


class UserAlerts(Struct, frozen=True):
    """What a user is told by e-mail."""

    user_id: int
    email: str
    emails: Emails
    stock: Annotated[list[str], Meta(description="The SKUs that the user waits for.")]
    prices: Annotated[list[str], Meta(description="The names of the lists whose prices the user follows.")]


_ALERTS_OF_CUSTOMER = Statement(
    """
    select u.id as user_id, u.email,
           array(select kind from chosen_alert a where a.user_id = u.id order by kind) as emails,
           array(select p.sku from stock_alert a join product p on p.id = a.product_id
                 where a.user_id = u.id and a.in_stock_at is null order by p.sku) as stock,
           array(select l.name from price_alert a join saved_list l on l.id = a.list_id
                 where a.user_id = u.id and (l.user_id is null or l.user_id = u.id)
                 order by lower(l.name), l.id) as prices
    from customer_user u
    where u.customer_id = :customer_id and u.disabled_at is null and (:user_id::bigint is null or u.id = :user_id)
      and (
          :changed_since::timestamptz is null or greatest(u.changed_at, u.alerts_changed_at) >= :changed_since
          or exists (select from stock_alert a
                     where a.user_id = u.id and greatest(a.created_at, a.in_stock_at) >= :changed_since)
          or exists (select from price_alert a join saved_list l on l.id = a.list_id
                     where a.user_id = u.id and l.changed_at >= :changed_since)
      )
    order by u.id
    """,
    UserAlerts,
)


async def alerts_of_customer(
    tx: Transaction, customer_id: int, user_id: int | None = None, changed_since: datetime | None = None
) -> list[UserAlerts]:
    """Return what a customer's users, or one of them, are told. Disabled users are told nothing."""
    return await tx.fetch_all(
        _ALERTS_OF_CUSTOMER, customer_id=customer_id, user_id=user_id, changed_since=changed_since
    )


_TOLD_OF_DISPATCH = Statement("""
    select a.user_id from chosen_alert a join customer_user u on u.id = a.user_id
    where u.customer_id = :customer_id and u.disabled_at is null and a.kind = 'dispatched' order by a.user_id
""")


async def users_told_of_dispatch(tx: Transaction, customer_id: int) -> list[int]:
    """Return a customer's users who want to be told of each dispatch."""
    return [user_id for (user_id,) in await tx.fetch_all(_TOLD_OF_DISPATCH, customer_id=customer_id)]


class InvoicesDue(Struct, frozen=True):
    """A user who is told of the invoices up to `last` that are due after a moment, or come after `seen`.

    An earlier e-mail told of the others, or they were due before the user chose the alert.
    """

    user_id: int
    after: datetime
    seen: int
    last: int


# Invoices get their numbers in the order in which they are committed.
_FIND_INVOICES_DUE = Statement(
    """
    with found as (
        select a.user_id, a.told_until as after, coalesce(a.seen_invoice, n.last) as seen, n.last
        from chosen_alert a join customer_user u on u.id = a.user_id join customer c on c.id = u.customer_id
        cross join invoice_number n
        where a.kind = 'invoices_due' and u.disabled_at is null and c.blocked_at is null
          and exists (
              select from invoice_balance b
              where b.customer_id = u.customer_id and b.due > 0 and b.due_at <= :until
                and (b.due_at > a.told_until or b.invoice > a.seen_invoice)
          )
        order by a.user_id for update of a
    )
    update chosen_alert a set told_until = :until, seen_invoice = found.last
    from found where a.kind = 'invoices_due' and a.user_id = found.user_id
    returning found.user_id, found.after, found.seen, found.last
    """,
    InvoicesDue,
)


async def find_invoices_due(tx: Transaction, until: datetime) -> list[InvoicesDue]:
    """Note that users are told of the invoices that are due until a moment; return the users to tell."""
    return await tx.fetch_all(_FIND_INVOICES_DUE, until=until)
