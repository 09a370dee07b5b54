"""Receives returned units, and closes returns: restocked units serve back-orders first, scrapped ones are written off.

Rows are always locked in the same order: orders, credit, stock by product.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from tradecounter.credit.queries import lock_exposure
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.orders.back_orders.allocate_back_orders import allocate_back_orders
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.returns.find_return import lock_return
from tradecounter.returns.queries.returns import (
    ReturnedLine,
    StoredReturn,
    set_return_state,
    store_credited,
    store_received,
    unaccounted_units,
)
from tradecounter.returns.requests import ReceivedUnits
from tradecounter.returns.unbilled_units import take_off_unbilled
from tradecounter.returns.wire import return_number
from tradecounter.stock.queries.allocation import restock


async def receive_return(tx: Transaction, number: str, items: Sequence[ReceivedUnits], now: datetime) -> None:
    """Receive units of a return, which may take several deliveries.

    Units that are not invoiced yet are not invoiced any more.

    Raises DomainError: not found, invalid (unknown items, more units than expected), conflict (received or closed).
    """
    found, lines, order = await lock_return(tx, number, serving=True)
    name = return_number(found.id)
    if found.state != "open":
        raise DomainError(Kind.CONFLICT, f"{name} is already {found.state}")
    _check_received(lines, items)
    good = Counter({item.id: item.restock for item in items})
    bad = Counter({item.id: item.scrap for item in items})
    unaccounted = await unaccounted_units(tx, order.id)  # before these units are stored
    await store_received(tx, found.id, good, bad)
    order, unbilled = await take_off_unbilled(tx, order, good + bad, unaccounted)
    if unbilled:  # nothing is left to credit of units that are never invoiced
        await store_credited(tx, found.id, unbilled)
    complete = all(line.expected == good[line.line_id] + bad[line.line_id] for line in lines)
    if complete:
        await set_return_state(tx, found.id, "received", now)
    units: Counter[int] = Counter()
    for line in lines:
        units[line.product_id] += good[line.line_id]
    await lock_exposure(tx, order.customer_id)  # a credit note of this transaction lowers it after stock is locked
    await restock(tx, units)
    await allocate_back_orders(tx)
    state = "received" if complete else "open"
    received = [
        {"id": line.line_id, "sku": line.sku, "restocked": good[line.line_id], "scrapped": bad[line.line_id]}
        for line in lines
        if good[line.line_id] or bad[line.line_id]
    ]
    record_order_event(tx, "order.returned", order, now, number=name, state=state, items=received)
    audit_order(
        tx,
        "return.receive",
        order,
        now,
        before={"state": found.state},
        after={"state": state, "number": name, "items": received},
    )


def _check_received(lines: Sequence[ReturnedLine], items: Sequence[ReceivedUnits]) -> None:
    """Raise DomainError (invalid) for unknown and repeated items, without any unit, and for more than is expected."""
    by_id = {line.line_id: line for line in lines}
    named: set[int] = set()
    for number, item in enumerate(items):
        if item.id not in by_id:
            known = ", ".join(map(str, sorted(by_id)))
            raise invalid(f"items[{number}].id", f"is not in this return; its items are {known}")
        if item.id in named:
            raise invalid(f"items[{number}].id", "is named twice: add up its quantities")
        named.add(item.id)
    if not any(item.restock or item.scrap for item in items):
        raise invalid("items", "must name at least one unit to restock or to scrap")
    for number, item in enumerate(items):
        for field, given in (("restock", item.restock), ("scrap", item.scrap)):
            if given < 0:
                raise invalid(f"items[{number}].{field}", "must not be negative")
        line, units = by_id[item.id], item.restock + item.scrap
        if units > line.expected:
            field = "restock" if item.restock else "scrap"
            problem = f"{line.sku} has {_what_is_expected(line.expected)}, not {units}"
            raise invalid(f"items[{number}].{field}", problem)


def _what_is_expected(units: int) -> str:
    return "1 expected unit" if units == 1 else f"{units or 'no'} expected units"


async def close_return(tx: Transaction, number: str, now: datetime) -> None:
    """Close a return; units that have not come back are no longer expected.

    Raises DomainError: not found, conflict (already closed).
    """
    found, _, order = await lock_return(tx, number)
    if found.state == "closed":
        raise DomainError(Kind.CONFLICT, f"{return_number(found.id)} is already closed")
    await _close(tx, found, order, now)
    before, after = {"state": found.state}, {"state": "closed", "number": return_number(found.id)}
    audit_order(tx, "return.close", order, now, before=before, after=after)


async def count_credited(tx: Transaction, number: str, units: Mapping[int, int], now: datetime) -> bool:
    """Count received units of a return, by line id, as credited; the caller writes the audit entry.

    A received return is closed once all its units are credited; returns whether it is now. Locks the order.
    """
    found, lines, order = await lock_return(tx, number)
    await store_credited(tx, found.id, units)
    if found.state != "received" or any(line.uncredited > units.get(line.line_id, 0) for line in lines):
        return False
    await _close(tx, found, order, now)
    return True


async def _close(tx: Transaction, found: StoredReturn, order: ConfirmedOrder, now: datetime) -> None:
    await set_return_state(tx, found.id, "closed", now)
    record_order_event(tx, "order.returned", order, now, number=return_number(found.id), state="closed", items=[])
