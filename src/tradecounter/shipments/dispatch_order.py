"""Dispatches an order, whole or in part, as a shipment with serial numbers.

Rows are always locked in the same order: the order, then stock by product.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from tradecounter.alerts.queries.chosen_alerts import users_told_of_dispatch
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text
from tradecounter.kit.local_time import local_text
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, with_parts
from tradecounter.orders.queries.back_orders import hold_off_serving
from tradecounter.orders.queries.changes import store_dispatch
from tradecounter.orders.queries.lines import invoiced_units, lines_of_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import ConfirmedOrder, shown_state
from tradecounter.orders.units import status_of
from tradecounter.shipments.queries.writes import insert_shipment
from tradecounter.shipments.requests import DispatchRequest, Serial
from tradecounter.shipments.rules import (
    LONGEST_CARRIER,
    LONGEST_TRACKING_NUMBER,
    check_serials,
    normalised_mac,
    plan_dispatch,
    shipped_items,
)
from tradecounter.shipments.shipment_in_event import shipment_in_event
from tradecounter.stock.queries.allocation import hand_over
from tradecounter.stock.queries.stock_of_product import shelf_labels_of

_LONGEST_SERIAL = 200


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
        require_text(f"{serial.place}.serial_number", serial.serial_number, _LONGEST_SERIAL)
        require_text(f"{serial.place}.provisioning_sku", serial.provisioning_sku or "-", _LONGEST_SERIAL)
    return [
        dataclasses.replace(each, mac_address=normalised_mac(f"{each.place}.mac_address", each.mac_address))
        if each.mac_address
        else each
        for each in request.serials
    ]
