"""Finds returns by their numbers."""

import re

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.returns.queries.returns import ReturnedLine, StoredReturn, find_return, lines_of_returns
from tradecounter.returns.wire import RETURN_PREFIX, Return, return_number, return_on_the_wire

_NUMBER = re.compile(rf"(?:{RETURN_PREFIX})?([0-9]{{1,18}})", re.IGNORECASE)


async def fetch_return(tx: Transaction, number: str) -> StoredReturn:
    """Return a return by its number, with or without the prefix, in any case. Raises DomainError (not found)."""
    match = _NUMBER.fullmatch(number.strip())
    found = None if match is None else await find_return(tx, int(match[1]))
    if found is None:
        raise not_found("return", number)
    return found


async def shown_return(tx: Transaction, number: str) -> Return:
    """Return a return as the reseller sees it. Raises DomainError (not found)."""
    found = await fetch_return(tx, number)
    return return_on_the_wire(found, (await lines_of_returns(tx, [found.id]))[found.id])


async def lock_return(
    tx: Transaction, number: str, *, serving: bool = False
) -> tuple[StoredReturn, list[ReturnedLine], ConfirmedOrder]:
    """Lock the order of a return; return the return, its lines and the order.

    With `serving`, the caller puts units back into the stock, so the waiting orders are locked too. Raises DomainError:
    not found, conflict (the order is cancelled, so the return is closed).
    """
    order_id = (await fetch_return(tx, number)).order_id
    if serving:
        await lock_waiting_orders(tx, also=order_id)
    order = await lock_order(tx, order_id)
    found = await fetch_return(tx, number)  # as it is after the wait for the lock
    if not isinstance(order, ConfirmedOrder):  # it is cancelled, after its shipments were taken back
        raise DomainError(Kind.CONFLICT, f"{return_number(found.id)} is already {found.state}")
    return found, (await lines_of_returns(tx, [found.id]))[found.id], order
