"""Dispatches orders as shipments, corrects shipments, and takes those back that never left.

Rows are always locked in the same order: the order, then stock by product.
"""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from tradecounter.alerts.queries import users_told_of_dispatch
from tradecounter.db.jobs import queue
from tradecounter.db.label_codes import LONGEST_SERIAL
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import local_text
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, status_of, with_parts
from tradecounter.orders.present import shipment_on_the_wire
from tradecounter.orders.queries.back_orders import hold_off_serving
from tradecounter.orders.queries.changes import store_dispatch
from tradecounter.orders.queries.orders import invoiced_units, lines_of_order, lock_order
from tradecounter.orders.states import ConfirmedOrder, NumberedOrder, shown_state
from tradecounter.orders.wire import ProductSerialNumber
from tradecounter.returns.queries import claimed_units, serial_uses
from tradecounter.returns.wire import return_number
from tradecounter.shipments.queries.fulfilment import numbers_by_shipment, shipment_of
from tradecounter.shipments.queries.store_fulfilment import (
    OneShipment,
    delete_video,
    fetch_shipment,
    insert_shipment,
    move_to_taken_back,
    store_correction,
)
from tradecounter.shipments.rules import (
    LONGEST_CARRIER,
    LONGEST_TRACKING_NUMBER,
    check_serials,
    normalised_mac,
    plan_dispatch,
    shipped_items,
)
from tradecounter.shipments.wire import DispatchRequest, Serial
from tradecounter.stock.queries.stock import hand_over, shelf_labels_of

_EVENT_FIELDS = ("shipment_id", "method_id", "carrier", "tracking_number", "tracking_url", "dispatched_on", "items")


async def shipment_in_event(
    tx: Transaction, order: NumberedOrder, lines: Sequence[OrderLine], shipment_id: int
) -> dict[str, Any]:
    """Return a shipment as an event has it. Raises LookupError if the order has no such shipment."""
    shown = shipment_on_the_wire(order, lines, await shipment_of(tx, order.id, shipment_id))
    return {name: value for name in _EVENT_FIELDS if (value := getattr(shown, name)) is not None}


async def dispatch_order(tx: Transaction, reference: str, request: DispatchRequest, now: datetime) -> None:
    """Dispatch a shipment of an order, named by reference or id; queue the e-mail about it.

    Raises DomainError: not found, conflict (not confirmed, nothing left, back-ordered), invalid.
    """
    request = _trimmed(request)
    serials = _checked_serials(request)
    await hold_off_serving(tx)
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    if not isinstance(order, ConfirmedOrder):
        state = shown_state(order, now)
        raise DomainError(Kind.CONFLICT, f"{order.name} is {state}: only confirmed orders can be dispatched")
    lines = await lines_of_order(tx, order.id)
    units = plan_dispatch(lines, request.items, only_allocated=request.only_allocated)
    check_serials(lines, units, serials, await _eans(tx, lines) if serials else {})
    shipment_id = await insert_shipment(
        tx,
        order,
        units,
        serials,
        tracking_number=request.tracking_number,
        carrier=request.carrier,
        dispatched_at=_checked_moment(request.dispatched_at, order, now),
    )
    sent = [replace(line, dispatched=line.dispatched + units.get(line.id, 0)) for line in lines]
    status = status_of(sent, await invoiced_units(tx, [order.id]), order.due)
    await store_dispatch(tx, order.id, units, status)
    leaving: defaultdict[int, int] = defaultdict(int)
    for line in lines:
        leaving[line.product_id] += units.get(line.id, 0)
    await hand_over(tx, leaving)
    await queue(tx, "mail_order_dispatched", order_id=order.id, shipment_id=shipment_id)
    if await users_told_of_dispatch(tx, order.customer_id):
        await queue(tx, "mail_dispatch_alert", order_id=order.id, shipment_id=shipment_id)
    if request.invoice:
        await queue(tx, "invoice_dispatch", order_id=order.id)
    shipment = {"shipment_id": shipment_id, "tracking_number": request.tracking_number}
    numbers: defaultdict[int, list[str]] = defaultdict(list)
    for serial in serials:
        numbers[serial.item_id].append(serial.serial_number)
    items = shipped_items(lines, units, numbers)
    parcel = await shipment_in_event(tx, order, lines, shipment_id)
    record_order_event(tx, "order.dispatched", order, now, status=status, **shipment, items=items, shipment=parcel)
    given = {"carrier": request.carrier, "dispatched_at": request.dispatched_at}
    given = {name: value for name, value in given.items() if value is not None}
    before, after = {"status": order.status}, {"status": status, **shipment, **given, "items": items}
    audit_order(tx, "order.dispatch", order, now, before=before, after=after)


async def _eans(tx: Transaction, lines: Sequence[OrderLine]) -> dict[int, str | None]:
    labels = await shelf_labels_of(tx, [line.product_id for line in with_parts(lines)])
    return {product_id: label.ean for product_id, label in labels.items()}


def _checked_moment(given: datetime | None, order: ConfirmedOrder, now: datetime) -> datetime:
    """Return when a shipment left. Raises DomainError (invalid) before the order's confirmation and in the future."""
    if given is None:
        return now
    if not order.confirmed_at.replace(microsecond=0) <= given <= now:
        since = local_text(order.confirmed_at)
        raise invalid("dispatched_at", f"must be between the order's confirmation ({since} UK time) and now")
    return max(given, order.confirmed_at)


def _trimmed(request: DispatchRequest) -> DispatchRequest:
    """Return a request whose texts are as people look for them."""

    def text(value: str | None) -> str | None:
        return value and value.strip()

    return dataclasses.replace(
        request,
        tracking_number=text(request.tracking_number),
        carrier=text(request.carrier),
        serials=[
            dataclasses.replace(
                each,
                serial_number=each.serial_number.strip(),
                mac_address=each.mac_address.strip(),
                provisioning_sku=each.provisioning_sku.strip(),
            )
            for each in request.serials
        ],
    )


def _checked_serials(request: DispatchRequest) -> list[Serial]:
    """Return the serial numbers with normalised MAC addresses. Raises DomainError (invalid) for wrong texts."""
    if request.tracking_number is not None:
        require_text("tracking_number", request.tracking_number, LONGEST_TRACKING_NUMBER)
    if request.carrier is not None:
        require_text("carrier", request.carrier, LONGEST_CARRIER)
    for serial in request.serials:
        require_text(f"{serial.place}.serial_number", serial.serial_number, LONGEST_SERIAL)
        require_text(f"{serial.place}.provisioning_sku", serial.provisioning_sku or "-", LONGEST_SERIAL)
    return [
        dataclasses.replace(each, mac_address=normalised_mac(f"{each.place}.mac_address", each.mac_address))
        if each.mac_address
        else each
        for each in request.serials
    ]


class ShipmentCorrection(Struct, frozen=True, omit_defaults=True):
    """What is right of a shipment; what is absent stays."""

    tracking_number: Annotated[str | None, Meta(description="The courier's number; null: it has none.")] | UnsetType = (
        UNSET
    )
    carrier: (
        Annotated[str | None, Meta(description="Who carries it; null: the provider of its shipping method.")]
        | UnsetType
    ) = UNSET


async def correct_shipment(
    tx: Transaction, reference: str, shipment_id: int, given: ShipmentCorrection, now: datetime
) -> None:
    """Replace the tracking number or the carrier of an order's shipment.

    Raises DomainError: not found, conflict (it was taken back), invalid.
    """
    if given.tracking_number is UNSET and given.carrier is UNSET:
        raise invalid("tracking_number", "send tracking_number, carrier or both")
    number = _corrected_text("tracking_number", given.tracking_number, LONGEST_TRACKING_NUMBER)
    carrier = _corrected_text("carrier", given.carrier, LONGEST_CARRIER)
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    shipment = await fetch_shipment(tx, order.id, order.name, shipment_id)
    if not isinstance(order, NumberedOrder):
        raise TypeError(f"shipment {shipment_id} is of {order.name}, which was never confirmed")
    before = {"tracking_number": shipment.tracking_number, "carrier": shipment.carrier}
    after = {
        "tracking_number": shipment.tracking_number if number is UNSET else number,
        "carrier": shipment.carrier if carrier is UNSET else carrier,
    }
    if after == before:
        return
    await store_correction(tx, shipment_id, **after)
    about = {"shipment_id": shipment_id}
    parcel = await shipment_in_event(tx, order, await lines_of_order(tx, order.id), shipment_id)
    record_order_event(tx, "order.tracking_updated", order, now, **about, **after, shipment=parcel)
    audit_order(tx, "shipment.correct", order, now, before=before, after={**about, **after})


def _corrected_text(field: str, value: str | UnsetType | None, longest: int) -> str | UnsetType | None:
    if not isinstance(value, str):
        return value
    value = value.strip()
    require_text(field, value, longest)
    return value


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
    numbers = _numbers_by_line(await numbers_by_shipment(tx, [order.id]), shipment_id)
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


def _numbers_by_line(
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
