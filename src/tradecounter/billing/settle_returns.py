"""Counts the units on credit notes as units that came back, and closes a return once all its units are credited."""

from collections import Counter
from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.returns.queries.returns import lines_of_returns, returns_of_orders, unaccounted_units
from tradecounter.returns.receive_return import count_credited
from tradecounter.returns.wire import return_number


async def settle_returns(tx: Transaction, order_id: int, now: datetime, first: int | None = None) -> list[str]:
    """Count credited units that no return accounts for as received ones: of the return `first`, then of the oldest.

    So no unit is credited twice, whichever way it was credited. Returns the numbers of the returns that are now closed,
    for the caller's audit entry. The caller has locked the order.
    """
    return_ids = (await returns_of_orders(tx, [order_id])).get(order_id, [])
    if not return_ids:
        return []
    lines = await lines_of_returns(tx, return_ids)
    if not any(line.uncredited for found in lines.values() for line in found):
        return []
    left = Counter(await unaccounted_units(tx, order_id))
    closed = []
    for return_id in sorted(return_ids, key=lambda each: (each != first, each)):
        units = {line.line_id: min(left[line.line_id], line.uncredited) for line in lines[return_id]}
        units = {line_id: count for line_id, count in units.items() if count > 0}
        if units:
            left.subtract(units)
            number = return_number(return_id)
            if await count_credited(tx, number, units, now):
                closed.append(number)
    return closed
