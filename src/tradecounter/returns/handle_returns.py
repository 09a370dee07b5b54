"""Opens, receives and closes returns; restocked units serve back-orders first.

Locks are taken in the order of docs/architecture.md#locks.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from tradecounter.credit.queries import discharge, lock_exposure
from tradecounter.db.label_codes import LONGEST_SERIAL
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, or_not_found, require_text
from tradecounter.kit.text import LONGEST_REASON, plural
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import (
    OrderLine,
    Purpose,
    added_up,
    named_units,
    status_of,
    total_costs,
    units_per_bundle,
)
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.queries.changes import store_changed_order, store_lines
from tradecounter.orders.queries.orders import invoiced_units, lines_of_order, lock_order
from tradecounter.orders.serve_back_orders import allocate_back_orders
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, require_confirmed
from tradecounter.returns.queries import (
    ReturnedLine,
    SerialUse,
    StoredReturn,
    claimed_units,
    find_return,
    insert_return,
    lines_of_returns,
    returns_of_order,
    serial_uses,
    set_return_state,
    store_credited,
    store_received,
    unaccounted_units,
)
from tradecounter.returns.wire import (
    RETURN_PREFIX,
    ReceivedUnits,
    Return,
    ReturnedUnits,
    ReturnRequest,
    return_number,
    return_on_the_wire,
)
from tradecounter.stock.queries.stock import restock

_NUMBER = re.compile(rf"(?:{RETURN_PREFIX})?([0-9]{{1,18}})", re.IGNORECASE)


async def fetch_return(tx: Transaction, number: str) -> StoredReturn:
    """Return a return by its number, with or without the prefix, in any case. Raises DomainError (not found)."""
    match = _NUMBER.fullmatch(number.strip())
    stored_return = None if match is None else await find_return(tx, int(match[1]))
    return or_not_found(stored_return, "return", number)


async def shown_return(tx: Transaction, number: str) -> Return:
    """Return a return as the reseller sees it. Raises DomainError (not found)."""
    stored_return = await fetch_return(tx, number)
    return return_on_the_wire(stored_return, (await lines_of_returns(tx, [stored_return.id]))[stored_return.id])


async def _lock_order_of_return(
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
    stored_return = await fetch_return(tx, number)  # as it is after the wait for the lock
    if not isinstance(order, ConfirmedOrder):  # it is cancelled, after its shipments were taken back
        raise DomainError(Kind.CONFLICT, f"{return_number(stored_return.id)} is already {stored_return.state}")
    return stored_return, (await lines_of_returns(tx, [stored_return.id]))[stored_return.id], order


_UNUSED = SerialUse(0, 0, None)


async def open_return(tx: Transaction, reference: str, request: ReturnRequest, now: datetime) -> str:
    """Open a return of an order's dispatched units; return its number.

    A bundle's units have the serial numbers of its components. A unit, and its serial number, is in one return only.
    Raises DomainError: not found, invalid, conflict (not confirmed, or nothing is dispatched).
    """
    reason = require_text("reason", request.reason, LONGEST_REASON)
    found = await lock_order(tx, (await fetch_order(tx, reference)).id)
    order = require_confirmed(found, now, "only dispatched units can be returned")
    lines = await lines_of_order(tx, order.id)
    if not any(line.dispatched for line in lines):
        raise DomainError(Kind.CONFLICT, f"no unit of {order.name} is dispatched: cancel units instead")
    claimed = await claimed_units(tx, order.id)
    purpose = Purpose(verb="return", remaining="to return", most=lambda line: line.dispatched - claimed.get(line.id, 0))
    units = named_units(lines, request.items, purpose)
    serial_numbers = {item.id: item.serial_numbers for item in request.items if item.serial_numbers}
    if serial_numbers:
        _check_serials(lines, request.items, await serial_uses(tx, order.id))
    number = return_number(await insert_return(tx, order.id, reason, units, serial_numbers, now))
    returned = [{"id": line.id, "sku": line.sku, "quantity": units[line.id]} for line in lines if line.id in units]
    record_order_event(tx, "order.returned", order, now, number=number, state="open", items=returned)
    audit_order(tx, "return.open", order, now, after={"number": number, "items": returned, "reason": reason})
    return number


def _check_serials(
    lines: Sequence[OrderLine], items: Sequence[ReturnedUnits], uses: Mapping[tuple[int, str], SerialUse]
) -> None:
    """Raise DomainError (invalid) unless each number was dispatched with its item and is in no other return."""
    numbered = {line.id: 1 + sum(units_per_bundle(each, line) for each in line.components) for line in lines}
    for index, item in enumerate(items):
        place, numbers = f"items[{index}].serial_numbers", item.serial_numbers
        if len(numbers) > item.quantity * numbered.get(item.id, 1):
            raise invalid(place, f"there are {len(numbers)} serial numbers: send at most one for each unit")
        for number, count in Counter(numbers).items():
            require_text(place, number, LONGEST_SERIAL)
            use = uses.get((item.id, number), _UNUSED)
            if not use.dispatched:
                raise invalid(place, f"the serial number {number!r} was not dispatched with this item")
            if use.latest is not None and use.claimed >= use.dispatched:
                raise invalid(place, f"the serial number {number!r} is already in {return_number(use.latest)}")
            if count > use.dispatched - use.claimed:
                raise invalid(place, f"the serial number {number!r} is there {count} times")


async def receive_return(tx: Transaction, number: str, items: Sequence[ReceivedUnits], now: datetime) -> None:
    """Receive units of a return, which may take several deliveries.

    Returned units that were not invoiced are never invoiced.

    Raises DomainError: not found, invalid (unknown items, more units than expected), conflict (received or closed).
    """
    stored, lines, order = await _lock_order_of_return(tx, number, serving=True)
    name = return_number(stored.id)
    if stored.state != "open":
        raise DomainError(Kind.CONFLICT, f"{name} is already {stored.state}")
    _check_received(lines, items)
    good = Counter({item.id: item.restock for item in items})
    bad = Counter({item.id: item.scrap for item in items})
    unaccounted = await unaccounted_units(tx, order.id)  # before these units are stored
    await store_received(tx, stored.id, good, bad)
    order, unbilled = await _take_off_unbilled(tx, order, good + bad, unaccounted)
    if unbilled:  # nothing is left to credit of units that are never invoiced
        await store_credited(tx, stored.id, unbilled)
    complete = all(line.expected == good[line.line_id] + bad[line.line_id] for line in lines)
    if complete:
        await set_return_state(tx, stored.id, "received", now)
    await lock_exposure(tx, order.customer_id)  # a credit note of this transaction lowers it after stock is locked
    await restock(tx, added_up((line.product_id, good[line.line_id]) for line in lines))
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
        before={"state": stored.state},
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
        line, units = by_id[item.id], item.restock + item.scrap
        if units > line.expected:
            field = "restock" if item.restock else "scrap"
            problem = f"{line.sku} has {plural(line.expected, 'expected unit')}, not {units}"
            raise invalid(f"items[{number}].{field}", problem)


async def _take_off_unbilled(
    tx: Transaction, order: ConfirmedOrder, received: Mapping[int, int], unaccounted: Mapping[int, int]
) -> tuple[ConfirmedOrder, dict[int, int]]:
    """Return a locked order without the price of received units that are not invoiced, and these units by line id.

    Units credited before they came back are taken first: `unaccounted` has them by line id, with units whose price was
    taken off before. If some units of a line are not invoiced, they are taken next.
    """
    units, kept = {}, []
    invoiced = await invoiced_units(tx, [order.id])
    for line in await lines_of_order(tx, order.id):
        uncredited = received.get(line.id, 0) - unaccounted.get(line.id, 0)
        unbilled = min(uncredited, line.dispatched - line.unbilled - invoiced.get(line.id, 0))
        if unbilled > 0:
            units[line.id] = unbilled
            kept.append(replace(line, unbilled=line.unbilled + unbilled).at_price(line.unit_cost, order.tax_rate))
        else:
            kept.append(line)
    if not units:
        return order, units
    cost_net, cost_tax = total_costs(kept)
    changed = replace(order, cost_net=cost_net, cost_tax=cost_tax)
    changed = replace(changed, status=status_of(kept, invoiced, changed.due))
    await store_lines(tx, kept)
    await store_changed_order(tx, changed)
    discharge(tx, order.customer_id, order.gross - changed.gross)
    return changed, units


async def close_return(tx: Transaction, number: str, now: datetime) -> None:
    """Close a return; units that have not come back are no longer expected.

    Raises DomainError: not found, conflict (already closed).
    """
    stored, _, order = await _lock_order_of_return(tx, number)
    if stored.state == "closed":
        raise DomainError(Kind.CONFLICT, f"{return_number(stored.id)} is already closed")
    await _close(tx, stored, order, now)
    before, after = {"state": stored.state}, {"state": "closed", "number": return_number(stored.id)}
    audit_order(tx, "return.close", order, now, before=before, after=after)


async def settle_returns(tx: Transaction, order_id: int, now: datetime, first: int | None = None) -> list[str]:
    """Count credited units that no return accounts for as received ones: of the return `first`, then of the oldest.

    So no unit is credited twice, whichever way it was credited. A received return is closed once all its units that
    cost something are credited. Returns the numbers of the returns that are now closed, for the caller's audit entry.
    The caller has locked the order.
    """
    returns = await returns_of_order(tx, order_id)
    if not returns:
        return []
    lines = await lines_of_returns(tx, [each.id for each in returns])
    left = Counter(await unaccounted_units(tx, order_id))
    order = await lock_order(tx, order_id)  # as this transaction has changed it
    closed = []
    for each in sorted(returns, key=lambda found: (found.id != first, found.id)):
        units = {line.line_id: min(left[line.line_id], line.uncredited) for line in lines[each.id]}
        units = {line_id: count for line_id, count in units.items() if count > 0}
        if units:
            left.subtract(units)
            await store_credited(tx, each.id, units)
        if each.state == "received" and all(line.to_credit <= units.get(line.line_id, 0) for line in lines[each.id]):
            await _close(tx, each, order, now)
            closed.append(return_number(each.id))
    return closed


async def _close(tx: Transaction, found: StoredReturn, order: AnyOrder, now: datetime) -> None:
    await set_return_state(tx, found.id, "closed", now)
    record_order_event(tx, "order.returned", order, now, number=return_number(found.id), state="closed", items=[])
