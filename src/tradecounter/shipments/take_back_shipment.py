"""Takes a shipment back that never left: its units are allocated again, as if they had not been dispatched.

Rows are always locked in the same order: the order, then stock by product.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, with_parts
from tradecounter.orders.queries.back_orders import hold_off_serving
from tradecounter.orders.queries.changes import store_dispatch
from tradecounter.orders.queries.lines import invoiced_units, lines_of_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.units import status_of
from tradecounter.orders.wire import ProductSerialNumber
from tradecounter.returns.queries.returns import claimed_units, serial_uses
from tradecounter.returns.wire import return_number
from tradecounter.shipments.queries.reads import numbers_by_shipment
from tradecounter.shipments.queries.shipments import OneShipment, delete_video, fetch_shipment, move_to_taken_back
from tradecounter.shipments.rules import shipped_items
from tradecounter.stock.queries.allocation import hand_over


async def take_back_shipment(tx: Transaction, reference: str, shipment_id: int, reason: str, now: datetime) -> None:
    """Take a shipment of an order back, while nothing of it is invoiced; queue the e-mail about it.

    With the last shipment, the packing video goes too. Raises DomainError: not found, invalid (no reason), conflict (it
    was taken back, it is invoiced, or units of it came back or are expected back).
    """
    reason = reason.strip()
    require_text("reason", reason, LONGEST_REASON)
    await hold_off_serving(tx)
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    shipment = await fetch_shipment(tx, order.id, order.name, shipment_id)
    if not isinstance(order, ConfirmedOrder):
        raise TypeError(f"shipment {shipment_id} is of order {order.name}, which is {order.state}")
    lines, invoiced = await lines_of_order(tx, order.id), await invoiced_units(tx, [order.id])
    numbers = _by_line(await numbers_by_shipment(tx, [order.id]), shipment_id)
    _require_uninvoiced(shipment, lines, invoiced)
    await _require_not_returned(tx, order.id, shipment, lines, numbers)
    left = [_allocated_again(line, shipment.units.get(line.id, 0)) for line in lines]
    status = status_of(left, invoiced, order.due)
    await store_dispatch(tx, order.id, {line_id: -units for line_id, units in shipment.units.items()}, status)
    await move_to_taken_back(tx, shipment, reason, now)
    if not any(line.dispatched for line in left):
        await delete_video(tx, order.id)
    back: Counter[int] = Counter()
    for line in lines:
        back[line.product_id] -= shipment.units.get(line.id, 0)
    await hand_over(tx, back)
    await queue(tx, "mail_shipment_taken_back", order_id=order.id, shipment_id=shipment_id)
    about = {"shipment_id": shipment_id, "tracking_number": shipment.tracking_number}
    items = shipped_items(lines, shipment.units, numbers)
    record_order_event(tx, "order.shipment_taken_back", order, now, status=status, **about, items=items, reason=reason)
    before, after = {"status": order.status, **about, "items": items}, {"status": status, "reason": reason}
    audit_order(tx, "shipment.take_back", order, now, before=before, after=after)


def _by_line(
    numbers: Mapping[tuple[int, int], Sequence[ProductSerialNumber]], shipment_id: int
) -> dict[int, list[str]]:
    return {
        line_id: [unit.serial_number for unit in units]
        for (shipment, line_id), units in numbers.items()
        if shipment == shipment_id
    }


def _allocated_again(line: OrderLine, units: int) -> OrderLine:
    return replace(line, allocated=line.allocated + units, dispatched=line.dispatched - units)


def _require_uninvoiced(shipment: OneShipment, lines: Sequence[OrderLine], invoiced: Mapping[int | None, int]) -> None:
    """Raise DomainError (conflict) if something of a shipment is invoiced.

    Units that came back before the invoice count as not invoiced, whichever shipment they were in. So a shipment
    without an invoice may have more units than are left to invoice.
    """
    if shipment.invoice is not None:
        raise DomainError(
            Kind.CONFLICT,
            f"the shipment is on invoice {shipment.invoice}: open a return and credit its units instead",
        )
    for line in lines:
        free = line.dispatched - line.unbilled - invoiced.get(line.id, 0)
        if shipment.units.get(line.id, 0) > free:
            raise DomainError(
                Kind.CONFLICT,
                f"{line.sku}: only {free} units of it are neither invoiced nor returned",
            )


async def _require_not_returned(
    tx: Transaction,
    order_id: int,
    shipment: OneShipment,
    lines: Sequence[OrderLine],
    numbers: Mapping[int, Sequence[str]],
) -> None:
    """Raise DomainError (conflict) if units of a shipment came back, or an open return expects them."""
    claimed = await claimed_units(tx, order_id)
    for line in lines:
        most = line.dispatched - claimed.get(line.id, 0)
        if shipment.units.get(line.id, 0) > most:
            raise DomainError(
                Kind.CONFLICT,
                f"{line.sku}: {claimed[line.id]} of {line.dispatched} dispatched units came back or "
                "are in an open return; close a return whose units never left",
            )
    bundles = {part.id: line.id for line in lines for part in with_parts([line])}
    uses, leaving = await serial_uses(tx, order_id), defaultdict[tuple[int, str], int](int)
    for line_id, found in numbers.items():
        for number in found:
            leaving[bundles[line_id], number] += 1
    for key, count in leaving.items():
        use = uses[key]
        if use.claimed > use.dispatched - count:
            raise DomainError(Kind.CONFLICT, f"the serial number {key[1]!r} is in {return_number(use.latest or 0)}")
