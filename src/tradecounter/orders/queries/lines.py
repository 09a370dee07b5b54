"""Reads the lines of orders."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.pipeline import Pipeline, Result, array
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.lines import OrderLine, with_components

_LINE = SQL(
    "l.id, l.order_id, l.product_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.cost_tax, l.allocated,"
    " l.back_ordered, l.dispatched, l.cancelled, l.returned, l.unbilled,"
    " l.requested_unit_cost, l.bundle_line_id"
)

_LINES = Statement(
    SQL(
        "select {} from order_line l where l.order_id = any(:order_ids::bigint[]) order by l.order_id, l.position"
    ).format(_LINE),
    OrderLine,
)

_LINES_BY_CODE = Statement(
    SQL(
        "select {} from order_line l join orders o on o.id = l.order_id"
        " where o.customer_id = :customer_id and o.confirmation_code = :code order by l.position"
    ).format(_LINE),
    OrderLine,
)


def pipe_lines_by_code(p: Pipeline, customer_id: int, code: str) -> Result[OrderLine]:
    """Fetch the lines of a customer's order or quote; `with_components` nests components."""
    return p.fetch(_LINES_BY_CODE, customer_id=customer_id, code=code)


async def lines_of(tx: Transaction, order_ids: Sequence[int]) -> dict[int, list[OrderLine]]:
    """Return the lines of orders by internal id, sorted by position; bundles contain their components."""
    async with tx.pipeline() as p:
        found = p.fetch(_LINES, order_ids=array(order_ids))
    lines: dict[int, list[OrderLine]] = {order_id: [] for order_id in order_ids}
    for line in with_components(found.rows):
        lines[line.order_id].append(line)
    return lines


_INVOICED_UNITS = Statement(
    "select l.line_id, sum(l.quantity)::integer from invoice_line l join invoice_balance b using (invoice)"
    " where b.order_id = any(:order_ids::bigint[]) group by l.line_id"
)


async def invoiced_units(tx: Transaction, order_ids: Sequence[int]) -> dict[int | None, int]:
    """Return the units of orders that are on their invoices, by line id; the invoiced shipping has None."""
    return dict(await tx.fetch_all(_INVOICED_UNITS, order_ids=array(order_ids)))


async def lines_of_order(tx: Transaction, order_id: int) -> list[OrderLine]:
    """Return the lines of one order, as `lines_of` does."""
    return (await lines_of(tx, [order_id]))[order_id]


class Bought(Struct, frozen=True):
    """When a customer last bought a product: the order, how many units, and their net unit cost."""

    order_reference: str
    confirmed_at: datetime
    quantity: int
    unit_cost: Decimal


# Only the latest orders: a product may be in any number of a customer's orders, or in none of them.
_LAST_BOUGHT = Statement(
    """
    select o.order_reference, o.confirmed_at, l.quantity, l.unit_cost
    from (
        select id, order_reference, confirmed_at, number from orders
        where customer_id = :customer_id and state = 'confirmed'
        order by confirmed_at desc, number desc limit 1000
    ) o
    join order_line l
      on l.order_id = o.id and l.product_id = :product_id and l.bundle_line_id is null and l.quantity > 0
    order by o.confirmed_at desc, o.number desc limit 1
    """,
    Bought,
)


async def find_last_bought(tx: Transaction, customer_id: int, product_id: int) -> Bought | None:
    """Return when a customer last bought a product, as far as its latest 1,000 orders tell."""
    return await tx.fetch_one(_LAST_BOUGHT, customer_id=customer_id, product_id=product_id)
