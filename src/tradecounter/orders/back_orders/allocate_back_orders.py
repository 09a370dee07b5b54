"""Allocates new stock to waiting orders, earliest confirmed first (specification, stock)."""

from collections import Counter

from tradecounter.db.transaction import Transaction
from tradecounter.orders.queries.back_orders import lines_to_serve, serve_lines, set_status_of_served
from tradecounter.stock.queries.allocation import move_served_units


async def allocate_back_orders(tx: Transaction) -> int:
    """Allocate available stock to waiting lines; return the number of lines that got units.

    The caller has locked all stock levels (an import does), so no line is served twice.
    """
    served = await lines_to_serve(tx)
    if served:
        await serve_lines(tx, served)
        units: Counter[int] = Counter()
        for line in served:
            units[line.product_id] += line.units
        await move_served_units(tx, units)
        await set_status_of_served(tx, {line.order_id for line in served})
    return len(served)
