"""Opens a return: which dispatched units a customer may send back, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, units_per_bundle
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import ConfirmedOrder, shown_state
from tradecounter.orders.units import Purpose, named_units
from tradecounter.returns.queries.returns import SerialUse, claimed_units, insert_return, serial_uses
from tradecounter.returns.requests import ReturnedUnits, ReturnRequest
from tradecounter.returns.wire import return_number

_LONGEST_SERIAL = 200
_UNUSED = SerialUse(0, 0, None)


async def open_return(tx: Transaction, reference: str, request: ReturnRequest, now: datetime) -> str:
    """Open a return of an order's dispatched units; return its number.

    A bundle's units have the serial numbers of its components. A unit, and its serial number, is in one return only.
    Raises DomainError: not found, invalid, conflict (not confirmed, or nothing is dispatched).
    """
    reason = request.reason.strip()
    require_text("reason", reason, LONGEST_REASON)
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    lines = await lines_of_order(tx, order.id)
    if not isinstance(order, ConfirmedOrder):
        raise DomainError(
            Kind.CONFLICT, f"{order.name} is {shown_state(order, now)}: only dispatched units can be returned"
        )
    if not any(line.dispatched for line in lines):
        raise DomainError(Kind.CONFLICT, f"no unit of {order.name} is dispatched: cancel units instead")
    claimed = await claimed_units(tx, order.id)
    purpose = Purpose(
        "return", "comes back with its bundle", "to return", lambda line: line.dispatched - claimed.get(line.id, 0)
    )
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
    numbered = {line.id: 1 + sum(units_per_bundle(part, line) for part in line.components) for line in lines}
    for index, item in enumerate(items):
        place, numbers = f"items[{index}].serial_numbers", item.serial_numbers
        if len(numbers) > item.quantity * numbered.get(item.id, 1):
            raise invalid(place, f"there are {len(numbers)} serial numbers: send at most one for each unit")
        for number, count in Counter(numbers).items():
            require_text(place, number, _LONGEST_SERIAL)
            use = uses.get((item.id, number), _UNUSED)
            if not use.dispatched:
                raise invalid(place, f"the serial number {number!r} was not dispatched with this item")
            if use.claimed >= use.dispatched:
                raise invalid(place, f"the serial number {number!r} is already in {return_number(use.latest or 0)}")
            if count > use.dispatched - use.claimed:
                raise invalid(place, f"the serial number {number!r} is there {count} times")
