"""Giving stock that came in to the orders that wait for it, the earliest confirmed first (decisions, stock)."""

from collections import defaultdict
from dataclasses import dataclass

from tradecounter.db.rows import execute, fetch_all
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.rules import AWAITING_DISPATCH, BACK_ORDERED
from tradecounter.stock.queries.allocation import serve_back_orders


@dataclass(frozen=True, slots=True)
class _Served:
    line_id: int
    order_id: int
    product_id: int
    units: int


# An advisory lock's number. Who serves back-orders holds it alone, who dispatches shares it: otherwise an order that is
# confirmed after the waiting ones were locked could be dispatched, and wait for stock, while it is being served.
_SERVING = 7_274_302


async def hold_off_serving(tx: Transaction) -> None:
    """Let no back-orders be served until the transaction ends; comes before any other lock."""
    await execute(tx, "select pg_advisory_xact_lock_shared(%s)", [_SERVING])


async def lock_waiting_orders(tx: Transaction, also: int | None = None) -> None:
    """Lock the orders that wait for stock, before any stock level: orders come first wherever both are locked.

    `also` is the internal id of one more order to lock, in its turn. One transaction at a time gets through.
    """
    await execute(tx, "select pg_advisory_xact_lock(%s)", [_SERVING])
    await execute(
        tx,
        """
        select from orders o
        where o.id in (select l.order_id from order_line l where l.back_ordered > 0 union select %s::bigint)
        order by o.id for no key update
        """,
        [also],
    )


async def allocate_back_orders(tx: Transaction) -> int:
    """Allocate what is for sale to waiting lines; return how many lines got something.

    The caller has locked all stock levels (an import does), so that no line can be served twice.
    """
    served = await fetch_all(
        tx,
        _Served,
        """
        with levels as (
            select product_id, available from stock_level
            where back_ordered > 0 and available > 0
            order by product_id
            for update
        ), waiting as (
            select l.id as line_id, l.order_id, l.product_id, l.back_ordered, levels.available,
                   sum(l.back_ordered) over (
                       partition by l.product_id order by o.confirmed_at, o.number, l.position
                   ) - l.back_ordered as earlier
            from order_line l join orders o on o.id = l.order_id join levels on levels.product_id = l.product_id
            where l.back_ordered > 0 and o.state = 'confirmed'
        )
        select line_id, order_id, product_id, least(back_ordered, available - earlier)::bigint as units
        from waiting where earlier < available
        """,
    )
    if served:
        await _move(tx, served)
    return len(served)


async def _move(tx: Transaction, served: list[_Served]) -> None:
    order_ids = sorted({s.order_id for s in served})
    # Whoever serves another line of the same order at this moment waits here, and then sees what was served.
    await execute(tx, "select from orders where id = any(%s) order by id for no key update", [order_ids])
    await execute(
        tx,
        """
        update order_line l set allocated = l.allocated + s.units, back_ordered = l.back_ordered - s.units
        from unnest(%s::bigint[], %s::bigint[]) as s (line_id, units) where l.id = s.line_id
        """,
        [[s.line_id for s in served], [s.units for s in served]],
    )
    units: defaultdict[int, int] = defaultdict(int)
    for line in served:
        units[line.product_id] += line.units
    await serve_back_orders(tx, units)
    await execute(
        tx,
        """
        update orders o set status = %s
        where o.id = any(%s) and o.status = %s
          and not exists (select from order_line l where l.order_id = o.id and l.back_ordered > 0)
        """,
        [AWAITING_DISPATCH, order_ids, BACK_ORDERED],
    )
