"""Reads and serves back-orders: orders that wait for stock, and the deliveries that cover them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime

from msgspec import Struct, convert
from psycopg.sql import SQL

from tradecounter.db.advisory_locks import HOLD_OFF_SERVING, SERVE_ALONE
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import day_begins
from tradecounter.orders.queries.orders import lock_orders, order_statement
from tradecounter.orders.rules import AWAITING_DISPATCH, BACK_ORDERED
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.stock.rules import Cover


async def hold_off_serving(tx: Transaction) -> None:
    """Block the serving of back-orders until the transaction ends. Call this before taking any other lock.

    `lock_waiting_orders` does not lock orders that are confirmed later. Without this lock, such an order could be
    dispatched while its back-orders are served.
    """
    await tx.execute(HOLD_OFF_SERVING)


_LOCK_WAITING = Statement(
    """
    select from orders o
    where o.id in (select l.order_id from order_line l where l.back_ordered > 0 union select :also::bigint)
    order by o.id for no key update
    """
)


async def lock_waiting_orders(tx: Transaction, also: int | None = None) -> None:
    """Lock the orders that wait for stock. Call this before locking stock levels: orders are always locked first.

    `also` is the internal id of another order to lock. Orders are locked by id, by one transaction at a time.
    """
    await tx.execute(SERVE_ALONE)
    await tx.execute(_LOCK_WAITING, also=also)


class ServedLine(Struct, frozen=True):
    """The available units that a back-ordered line gets."""

    line_id: int
    order_id: int
    product_id: int
    units: int


# Lines that wait for stock. `needed` counts the units of their product up to each line, in the order of serving, which
# numbers have: a confirmation draws its number when it has locked the stock. Its moment is from before any wait.
_WAITING = SQL("""
    select l.id as line_id, l.order_id, l.product_id, l.back_ordered,
           sum(l.back_ordered) over (partition by l.product_id order by o.number, l.position) as needed
    from order_line l join orders o on o.id = l.order_id
    where l.back_ordered > 0 and o.state = 'confirmed'
""")

_TO_SERVE = Statement(
    SQL("""
    with levels as (
        select product_id, available from stock_level
        where back_ordered > 0 and available > 0
        order by product_id
        for update
    ), waiting as ({} and l.product_id in (select product_id from levels))
    select line_id, order_id, product_id, least(back_ordered, available - needed + back_ordered)::bigint as units
    from waiting join levels using (product_id) where needed - back_ordered < available
    """).format(_WAITING),
    ServedLine,
)


async def lock_levels_to_serve(tx: Transaction) -> list[ServedLine]:
    """Return the back-ordered lines that available stock can serve, with the units for each; locks the stock levels."""
    return await tx.fetch_all(_TO_SERVE)


_SERVE_LINES = Statement(
    """
    update order_line l set allocated = l.allocated + s.units, back_ordered = l.back_ordered - s.units
    from unnest(:ids::bigint[], :units::bigint[]) as s (line_id, units) where l.id = s.line_id
    """
)


async def serve_lines(tx: Transaction, served: Sequence[ServedLine]) -> None:
    """Allocate units to back-ordered lines."""
    # A transaction that serves another line of the same order waits for this lock, and then sees these changes.
    await lock_orders(tx, {s.order_id for s in served})
    await tx.execute(_SERVE_LINES, ids=[s.line_id for s in served], units=[s.units for s in served])


_SET_SERVED = Statement(
    """
    update orders o set status = :served
    where o.id = any(:ids::bigint[]) and o.status = :waiting
      and not exists (select from order_line l where l.order_id = o.id and l.back_ordered > 0)
    """
)


async def set_status_of_served(tx: Transaction, order_ids: Collection[int]) -> None:
    """Set the status of the orders whose lines no longer wait for stock."""
    await tx.execute(_SET_SERVED, ids=list(order_ids), served=AWAITING_DISPATCH, waiting=BACK_ORDERED)


_COVERS = Statement(
    SQL("""
    with waiting as ({} and (
        :order_id::bigint is null or l.product_id in (select product_id from order_line where order_id = :order_id)
    ))
    select w.order_id, bool_and(c.expected_on is not null) as known, max(c.expected_on) as last_delivery
    from waiting w left join lateral (
        select min(expected_on) as expected_on from (
            select expected_on, sum(incoming) over (order by expected_on) as arrived
            from incoming_stock where product_id = w.product_id and expected_on >= :first
        ) as coming where arrived >= w.needed
    ) c on true
    where :order_id::bigint is null or w.order_id = :order_id
    group by w.order_id order by w.order_id
    """).format(_WAITING)
)


async def covers_of_waiting(tx: Transaction, first: date, order_id: int | None = None) -> Mapping[int, Cover]:
    """Return the cover of each order that waits for stock, or only of one, by internal id.

    Counts deliveries from the UK date `first` on.
    """
    rows = await tx.fetch_all(_COVERS, first=day_begins(first), order_id=order_id)
    return {order_id: Cover(known, last_delivery if known else None) for order_id, known, last_delivery in rows}


_QUEUES = Statement(
    SQL("""
    with wanted as (
        select distinct product_id from order_line where order_id = any(:order_ids::bigint[]) and back_ordered > 0
    ), waiting as ({} and l.product_id in (select product_id from wanted))
    select line_id, product_id, (needed - back_ordered)::bigint from waiting where order_id = any(:order_ids::bigint[])
    """).format(_WAITING)
)


async def queues_of_orders(tx: Transaction, order_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return the product of each back-ordered line, and how many of its units earlier lines wait for, by line id."""
    rows = await tx.fetch_all(_QUEUES, order_ids=list(order_ids))
    return {line_id: (product_id, earlier) for line_id, product_id, earlier in rows}


class WaitingOrder(Struct, frozen=True):
    """A confirmed order whose day of dispatch may have changed, with its chosen shipping option."""

    id: int
    confirmed_at: datetime
    option: ShippingOption | None


_READ_WAITING = Statement(
    """
    select id, confirmed_at,
           jsonb_path_query_first(
               shipping_options, '$[*] ? (@.id == $chosen)', jsonb_build_object('chosen', shipping_method)
           ) as option
    from orders where id = any(:ids::bigint[]) and state = 'confirmed' order by id
    """,
    lambda **row: convert(row, WaitingOrder),
)


async def waiting_orders(tx: Transaction, order_ids: Iterable[int]) -> list[WaitingOrder]:
    """Return what decides the day of dispatch of the confirmed orders among these ids."""
    return await tx.fetch_all(_READ_WAITING, ids=list(order_ids))


_LOCK_CONFIRMED = order_statement(
    "select {} from orders where id = any(:ids::bigint[]) and state = 'confirmed' order by id"
    " for no key update skip locked"
)


async def lock_confirmed_orders(tx: Transaction, order_ids: Iterable[int]) -> list[ConfirmedOrder]:
    """Return the confirmed orders among these ids, locked until the transaction ends; skips already locked ones."""
    rows = await tx.fetch_all(_LOCK_CONFIRMED, ids=list(order_ids))
    return [order for order in rows if isinstance(order, ConfirmedOrder)]


_SET_DATES = Statement("update orders set shipping_options = :options, expected_changed_at = :now where id = :id")


async def store_expected_dates(
    tx: Transaction, order_id: int, options: Sequence[ShippingOption], now: datetime
) -> None:
    """Replace the shipping options of an order with options that have new dates."""
    await tx.execute(_SET_DATES, id=order_id, options=json_of(options), now=now)
