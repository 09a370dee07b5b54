"""Price alerts: users, the lists whose prices they follow, and the prices that they know."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from msgspec import Struct

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class PriceAlert(Struct, frozen=True):
    """A list whose prices a user follows. `known` has the price of a unit by product id, as a text or None.

    `changes` is what the user was told last: pairs of before and after by product id.
    """

    user_id: int
    customer_id: int
    list_id: int
    name: str
    known: Mapping[str, str | None]
    changes: Mapping[str, Sequence[str | None]]


_COLUMNS = """
    select a.user_id, l.customer_id, a.list_id, l.name, a.known, a.changes
    from price_alert a join saved_list l on l.id = a.list_id
"""
_PUT = Statement("""
    insert into price_alert (user_id, list_id, known, checked_on) values (:user_id, :list_id, :known::jsonb, :today)
    on conflict (user_id, list_id) do update set known = excluded.known, checked_on = excluded.checked_on
""")
_REMOVE = Statement("delete from price_alert where user_id = :user_id and list_id = :list_id")
# A shared list may have become the own one of a colleague.
_SEEN = "(l.user_id is null or l.user_id = a.user_id)"
_OF_USER = Statement(f"{_COLUMNS} where a.user_id = :user_id and {_SEEN} order by lower(l.name), a.list_id", PriceAlert)
_TO_CHECK = Statement(
    f"""
    {_COLUMNS}
    join customer_user u on u.id = a.user_id join customer c on c.id = u.customer_id
    where a.checked_on < :today and u.disabled_at is null and c.blocked_at is null
      and {_SEEN}
    order by a.checked_on, a.user_id, a.list_id limit :most for update of a skip locked
    """,
    PriceAlert,
)
_CHECKED = Statement("""
    update price_alert set known = :known::jsonb, changes = coalesce(:changes::jsonb, changes), checked_on = :today
    where user_id = :user_id and list_id = :list_id
""")
_PRODUCTS = Statement("""
    select n.product_id, p.sku, p.name from saved_list_line n join product p on p.id = n.product_id
    where n.list_id = :list_id order by n.position
""")


async def put_price_alert(
    tx: Transaction, user_id: int, list_id: int, known: Mapping[str, str | None], today: date
) -> None:
    """Store that a user follows the prices of a list, and knows these."""
    await tx.execute(_PUT, user_id=user_id, list_id=list_id, known=json_of(known), today=today)


async def remove_price_alert(tx: Transaction, user_id: int, list_id: int) -> bool:
    """Delete an alert; return whether there was one."""
    return await tx.execute(_REMOVE, user_id=user_id, list_id=list_id) == 1


async def price_alerts_of(tx: Transaction, user_id: int) -> list[PriceAlert]:
    """Return a user's price alerts, by the names of the lists."""
    return await tx.fetch_all(_OF_USER, user_id=user_id)


async def alerts_to_check(tx: Transaction, today: date, most: int) -> list[PriceAlert]:
    """Return alerts that were not checked today, the oldest first, and lock them. Others that check leave them out."""
    return await tx.fetch_all(_TO_CHECK, today=today, most=most)


async def store_check(
    tx: Transaction,
    alert: PriceAlert,
    known: Mapping[str, str | None],
    changes: Mapping[str, Sequence[str | None]],
    today: date,
) -> None:
    """Store the prices that a user now knows, and what has changed, if anything has."""
    told = json_of(changes) if changes else None
    key: dict[str, Any] = {"user_id": alert.user_id, "list_id": alert.list_id}
    await tx.execute(_CHECKED, known=json_of(known), changes=told, today=today, **key)


async def products_of_list(tx: Transaction, list_id: int) -> dict[int, tuple[str, str]]:
    """Return the SKU and the name of each product of a list, by its id, in order."""
    return {product_id: (sku, name) for product_id, sku, name in await tx.fetch_all(_PRODUCTS, list_id=list_id)}
