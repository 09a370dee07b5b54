"""Alerts that users choose: every dispatch, and invoices that are due soon."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

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


_OF_CUSTOMER = Statement(
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
    return await tx.fetch_all(_OF_CUSTOMER, customer_id=customer_id, user_id=user_id, changed_since=changed_since)


_TOLD_OF_DISPATCH = Statement("""
    select a.user_id from chosen_alert a join customer_user u on u.id = a.user_id
    where u.customer_id = :customer_id and u.disabled_at is null and a.kind = 'dispatched' order by a.user_id
""")


async def users_told_of_dispatch(tx: Transaction, customer_id: int) -> list[int]:
    """Return a customer's users who want to be told of each dispatch."""
    return [user_id for (user_id,) in await tx.fetch_all(_TOLD_OF_DISPATCH, customer_id=customer_id)]


# A user is told once of each invoice: those due until `told_until` were in an earlier e-mail, or were due before the
# user chose the alert. Each invoice comes into the period once.
_FIND_DUE = Statement("""
    update chosen_alert a set told_until = :until
    from customer_user u, customer c
    where a.kind = 'invoices_due' and a.told_until < :until and u.id = a.user_id and u.disabled_at is null
      and c.id = u.customer_id and c.blocked_at is null
      and exists (
          select from invoice_balance b
          where b.customer_id = u.customer_id and b.due > 0 and b.due_at > a.told_until and b.due_at <= :until
      )
    returning a.user_id
""")


async def find_invoices_due(tx: Transaction, until: datetime) -> list[int]:
    """Note that users are told of the invoices that are due until a moment; return the users to tell."""
    return sorted(user_id for (user_id,) in await tx.fetch_all(_FIND_DUE, until=until))
