"""Dispatches orders as shipments, corrects shipments, and takes those back that never left.

Locks are taken in the order of docs/architecture.md#locks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

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
from tradecounter.orders.fulfilled import Shipped
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, added_up, flat_lines, status_of
from tradecounter.orders.present import shipment_on_the_wire
from tradecounter.orders.queries.back_orders import hold_off_serving
from tradecounter.orders.queries.changes import store_dispatch
from tradecounter.orders.queries.orders import invoiced_units, lines_of_order, lock_order
from tradecounter.orders.states import ConfirmedOrder, NumberedOrder, require_confirmed
from tradecounter.returns.queries import claimed_units, serial_uses
from tradecounter.returns.wire import return_number
from tradecounter.shipments.queries.fulfilment import (
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
)
from tradecounter.shipments.wire import Dispatch, Serial, serials_of
from tradecounter.stock.queries.stock import hand_over, shelf_labels_of

Given = TypeVar("Given")

_EVENT_FIELDS = ("shipment_id", "method_id", "carrier", "tracking_number", "tracking_url", "dispatched_on", "items")


def _in_event(order: NumberedOrder, lines: Sequence[OrderLine], shipment: Shipped) -> dict[str, Any]:
    """Return a shipment as an event has it."""
    order_shipping = shipment_on_the_wire(order, lines, shipment)
    return {name: value for name in _EVENT_FIELDS if (value := getattr(order_shipping, name)) is not None}


def _shipped_items(lines: Sequence[OrderLine], shipment: Shipped) -> list[dict[str, Any]]:
    """Return the units of a shipment as events and the audit log show them."""
    return [
        {
            "id": line.id,
            "sku": line.sku,
            "quantity": shipment.units[line.id],
            "serial_numbers": [unit.serial_number for unit in shipment.serial_numbers.get(line.id, ())],
        }
        for line in flat_lines(lines)
        if line.id in shipment.units
    ]


async def dispatch_order(
    tx: Transaction,
    reference: str,
    dispatch: Dispatch,
    now: datetime,
    *,
    serials: Sequence[Serial] = (),
    only_allocated: bool = True,
    invoice: bool = False,
) -> None:
    """Dispatch a shipment of an order, named by reference or id; queue the e-mail about it.

    `serials` are further serial numbers, also of components of bundles. Without `only_allocated`, a shipment that
    names no items has all remaining units. With `invoice`, the worker invoices the shipment.
    Raises DomainError: not found, conflict (not confirmed, nothing left, back-ordered), invalid.
    """
    tracking_number = _checked_text("tracking_number", dispatch.tracking_number, LONGEST_TRACKING_NUMBER)
    carrier = _checked_text("carrier", dispatch.carrier, LONGEST_CARRIER)
    serials = [_checked_serial(serial) for serial in (*serials_of(dispatch), *serials)]
    await hold_off_serving(tx)
    found = await lock_order(tx, (await fetch_order(tx, reference)).id)
    order = require_confirmed(found, now, "only confirmed orders can be dispatched")
    lines = await lines_of_order(tx, order.id)
    wanted = None if dispatch.items is UNSET else dispatch.items
    units = plan_dispatch(lines, wanted, only_allocated=only_allocated)
    check_serials(lines, units, serials, await _eans(tx, lines) if serials else {})
    shipment_id = await insert_shipment(
        tx,
        order,
        units,
        serials,
        tracking_number=tracking_number,
        carrier=carrier,
        dispatched_at=_checked_moment(dispatch.dispatched_at, order, now),
    )
    sent = [replace(line, dispatched=line.dispatched + units.get(line.id, 0)) for line in lines]
    status = status_of(sent, await invoiced_units(tx, [order.id]), order.due)
    await store_dispatch(tx, order.id, units, status)
    await hand_over(tx, added_up((line.product_id, units.get(line.id, 0)) for line in lines))
    queue(tx, "mail_order_dispatched", order_id=order.id, shipment_id=shipment_id)
    if await users_told_of_dispatch(tx, order.customer_id):
        queue(tx, "mail_dispatch_alert", order_id=order.id, shipment_id=shipment_id)
    if invoice:
        queue(tx, "invoice_dispatch", order_id=order.id)
    shipment = await fetch_shipment(tx, order.id, order.name, shipment_id)
    about = {"shipment_id": shipment_id, "tracking_number": shipment.tracking_number}
    items, parcel = _shipped_items(lines, shipment), _in_event(order, lines, shipment)
    record_order_event(tx, "order.dispatched", order, now, status=status, **about, items=items, shipment=parcel)
    given = {"carrier": carrier, "dispatched_at": dispatch.dispatched_at}
    given = {name: value for name, value in given.items() if value is not None}
    before, after = {"status": order.status}, {"status": status, **about, **given, "items": items}
    audit_order(tx, "order.dispatch", order, now, before=before, after=after)


async def _eans(tx: Transaction, lines: Sequence[OrderLine]) -> dict[int, str | None]:
    labels = await shelf_labels_of(tx, [line.product_id for line in flat_lines(lines)])
    return {product_id: label.ean for product_id, label in labels.items()}


def _checked_moment(given: datetime | None, order: ConfirmedOrder, now: datetime) -> datetime:
    """Return when a shipment left. Raises DomainError (invalid) before the order's confirmation and in the future."""
    if given is None:
        return now
    if not order.confirmed_at.replace(microsecond=0) <= given <= now:
        since = local_text(order.confirmed_at)
        raise invalid("dispatched_at", f"must be between the order's confirmation ({since} UK time) and now")
    return max(given, order.confirmed_at)


def _checked_text(field: str, value: Given, longest: int) -> Given | str:
    if not isinstance(value, str):
        return value
    return require_text(field, value, longest)


def _checked_serial(serial: Serial) -> Serial:
    """Return a serial number trimmed, with a normalised MAC address. Raises DomainError (invalid)."""
    mac, sku = serial.mac_address.strip(), serial.provisioning_sku.strip()
    number = require_text(f"{serial.place}.serial_number", serial.serial_number, LONGEST_SERIAL)
    if sku:
        require_text(f"{serial.place}.provisioning_sku", sku, LONGEST_SERIAL)
    mac = mac and normalised_mac(f"{serial.place}.mac_address", mac)
    return replace(serial, serial_number=number, mac_address=mac, provisioning_sku=sku)


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
    tx: Transaction, reference: str, shipment_id: int, shipment_correction: ShipmentCorrection, now: datetime
) -> None:
    """Replace the tracking number or the carrier of an order's shipment.

    Raises DomainError: not found, conflict (it was taken back), invalid.
    """
    if shipment_correction.tracking_number is UNSET and shipment_correction.carrier is UNSET:
        raise invalid("tracking_number", "send tracking_number, carrier or both")
    number = _checked_text("tracking_number", shipment_correction.tracking_number, LONGEST_TRACKING_NUMBER)
    carrier = _checked_text("carrier", shipment_correction.carrier, LONGEST_CARRIER)
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
    corrected = await fetch_shipment(tx, order.id, order.name, shipment_id)
    parcel = _in_event(order, await lines_of_order(tx, order.id), corrected)
    record_order_event(tx, "order.tracking_updated", order, now, **about, **after, shipment=parcel)
    audit_order(tx, "shipment.correct", order, now, before=before, after={**about, **after})


async def take_back_shipment(tx: Transaction, reference: str, shipment_id: int, reason: str, now: datetime) -> None:
    """Take a shipment of an order back, while nothing of it is invoiced; queue the e-mail about it.

    With the last shipment, the packing video goes too. Raises DomainError: not found, invalid (no reason), conflict (it
    was taken back, it is invoiced, or units of it came back or are expected back).
    """
    reason = require_text("reason", reason, LONGEST_REASON)
    await hold_off_serving(tx)
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    shipment = await fetch_shipment(tx, order.id, order.name, shipment_id)
    if not isinstance(order, ConfirmedOrder):
        raise TypeError(f"shipment {shipment_id} is of order {order.name}, which is {order.state}")
    lines, invoiced = await lines_of_order(tx, order.id), await invoiced_units(tx, [order.id])
    _require_uninvoiced(shipment, lines, invoiced)
    await _require_not_returned(tx, order.id, shipment, lines)
    left = [_allocated_again(line, shipment.units.get(line.id, 0)) for line in lines]
    status = status_of(left, invoiced, order.due)
    await store_dispatch(tx, order.id, {line_id: -units for line_id, units in shipment.units.items()}, status)
    await move_to_taken_back(tx, shipment, reason, now)
    if not any(line.dispatched for line in left):
        await delete_video(tx, order.id)
    await hand_over(tx, added_up((line.product_id, -shipment.units.get(line.id, 0)) for line in lines))
    queue(tx, "mail_shipment_taken_back", order_id=order.id, shipment_id=shipment_id)
    about = {"shipment_id": shipment_id, "tracking_number": shipment.tracking_number}
    items = _shipped_items(lines, shipment)
    record_order_event(tx, "order.shipment_taken_back", order, now, status=status, **about, items=items, reason=reason)
    before, after = {"status": order.status, **about, "items": items}, {"status": status, "reason": reason}
    audit_order(tx, "shipment.take_back", order, now, before=before, after=after)


def _allocated_again(line: OrderLine, units: int) -> OrderLine:
    return replace(line, allocated=line.allocated + units, dispatched=line.dispatched - units)


def _require_uninvoiced(shipment: Shipped, lines: Sequence[OrderLine], invoiced: Mapping[int | None, int]) -> None:
    """Raise DomainError (conflict) if something of a shipment is invoiced.

    Units that came back before the invoice count as not invoiced, whichever shipment they were in. So a shipment
    without an invoice may have more units than are left to invoice.
    """
    if shipment.invoice is not None:
        problem = "open a return and credit its units instead"
        raise DomainError(Kind.CONFLICT, f"the shipment is on invoice {shipment.invoice}: {problem}")
    for line in lines:
        free = line.dispatched - line.unbilled - invoiced.get(line.id, 0)
        if shipment.units.get(line.id, 0) > free:
            raise DomainError(Kind.CONFLICT, f"{line.sku}: only {free} units of it are neither invoiced nor returned")


async def _require_not_returned(tx: Transaction, order_id: int, shipment: Shipped, lines: Sequence[OrderLine]) -> None:
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
    bundles = {each.id: line.id for line in lines for each in flat_lines([line])}
    uses = await serial_uses(tx, order_id)
    leaving = Counter(
        (bundles[line_id], unit.serial_number) for line_id, units in shipment.serial_numbers.items() for unit in units
    )
    for key, count in leaving.items():
        use = uses[key]
        if use.claimed > use.dispatched - count:
            raise DomainError(Kind.CONFLICT, f"the serial number {key[1]!r} is in {return_number(use.latest or 0)}")
