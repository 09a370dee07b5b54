"""The papers of the warehouse as data: makes the picking list of an order and the packing slip of a shipment."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct

from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.accounts import accounts_of
from tradecounter.customers.settings import Account, Packing
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.letterhead.seller import Party
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.fulfilled import Shipped
from tradecounter.orders.lines import OrderLine, units_per_bundle
from tradecounter.orders.queries.notes import OrderNote, notes_of
from tradecounter.orders.queries.orders import lines_of, lines_of_order
from tradecounter.orders.shipping_options import find_option
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, require_confirmed
from tradecounter.products.on_pages import Scanned
from tradecounter.shipments.queries.fulfilment import shipments_of
from tradecounter.stock.queries.stock import ShelfLabel, shelf_labels_of

Made = TypeVar("Made")


class PaperLine(Scanned, Struct, frozen=True):
    """Units of an item, or of a component in all bundles of an item."""

    line_id: int
    sku: str
    name: str
    quantity: int
    parts: list["PaperLine"] = []
    serial_numbers: list[str] = []
    location: str = ""
    ean: str | None = None


class Paper(Struct, frozen=True, kw_only=True):
    """What both papers have. Times are UTC; `follow` are the units that are not here and still wanted."""

    order_reference: str
    customer_reference: str
    customer_id: int
    delivery: Party
    contact_number: str | None
    shipping: str
    packing: Packing
    lines: list[PaperLine]
    follow: list[PaperLine]


class PickingList(Paper, frozen=True, kw_only=True):
    """What to take from the shelf, in the order of the shelves: `lines` are allocated and not dispatched.

    `notes` are those of the staff.
    """

    customer: str
    confirmed_at: datetime
    printed_at: datetime
    notes: list[str]


class PackingSlip(Paper, frozen=True, kw_only=True):
    """What is in a shipment, for its recipient; without prices."""

    shipment_id: int
    dispatched_at: datetime
    tracking_number: str | None


def delivery_of(order: ConfirmedOrder) -> Party:
    """Return the name and the address to deliver to."""
    address = order.shipping_address
    name = address.company_name or address.contact_name
    return Party(name, [line for line in address_lines(address) if line != name])


_ONLY = "only confirmed orders are picked and packed"
_PLACE_DIGITS = re.compile(r"[0-9]+")
_WIDEST_NUMBER = 10  # digits; then shelf 9 comes before shelf 10


async def picking_list(tx: Transaction, reference: str, now: datetime) -> PickingList:
    """Return the picking list of an order, named by its reference or id.

    Raises DomainError: not found, conflict (not confirmed, or nothing is allocated).
    """
    [result] = await picking_lists(tx, [await fetch_order(tx, reference)], now)
    return _not_failed(result)


async def picking_lists(tx: Transaction, orders: Sequence[AnyOrder], now: datetime) -> list[PickingList | DomainError]:
    """Return the picking list of each order, or why it has none."""
    order_ids = [order.id for order in orders]
    lines = await lines_of(tx, order_ids)
    accounts = await accounts_of(tx, {order.customer_id for order in orders})
    notes = await notes_of(tx, order_ids)
    labels = await _labels(tx, [line for each in lines.values() for line in each])

    def paper_of(order: AnyOrder) -> PickingList:
        return _picking_list(order, lines[order.id], accounts[order.customer_id], notes[order.id], labels, now)

    return [_or_why_not(paper_of, order) for order in orders]


def _or_why_not(paper_of: Callable[[AnyOrder], Made], order: AnyOrder) -> Made | DomainError:
    try:
        return paper_of(order)
    except DomainError as error:
        return error


def _not_failed(result: Made | DomainError) -> Made:
    if isinstance(result, DomainError):
        raise result
    return result


async def shelves_of(tx: Transaction, order_id: int) -> dict[int, PaperLine]:
    """Return an order's allocated units with the places from which they are taken, by line id, in the order of places.

    Bundles have their components. Without any known place, there are none.
    """
    lines = await lines_of_order(tx, order_id)
    picked = sorted(_picked_lines(lines, lambda line: line.allocated, await _labels(tx, lines)), key=by_shelf)
    is_known = any(line.location or any(part.location for part in line.parts) for line in picked)
    return {line.line_id: line for line in picked} if is_known else {}


async def _labels(tx: Transaction, lines: Sequence[OrderLine]) -> dict[int, ShelfLabel]:
    return await shelf_labels_of(tx, list({part.product_id for line in lines for part in (line, *line.components)}))


def _picking_list(
    found: AnyOrder,
    lines: Sequence[OrderLine],
    account: Account,
    notes: Sequence[OrderNote],
    labels: Mapping[int, ShelfLabel],
    now: datetime,
) -> PickingList:
    order = require_confirmed(found, now, _ONLY)
    if not any(line.allocated for line in lines):
        waits = any(line.back_ordered for line in lines)
        why = "its units are back-ordered" if waits else "all its units are dispatched"
        raise DomainError(Kind.CONFLICT, f"nothing of {order.name} can be picked: {why}")
    return PickingList(
        order_reference=order.order_reference,
        customer_reference=order.customer_reference,
        customer_id=order.customer_id,
        customer=account.name,
        confirmed_at=order.confirmed_at,
        printed_at=now,
        delivery=delivery_of(order),
        contact_number=order.shipping_address.contact_number,
        shipping=order.chosen_shipping.name,
        packing=account.packing,
        lines=sorted(_picked_lines(lines, lambda line: line.allocated, labels), key=by_shelf),
        follow=_picked_lines(lines, lambda line: line.back_ordered, {}),
        notes=[note.text for note in notes],
    )


def by_shelf(line: PaperLine) -> tuple[bool, str]:
    """Return the key that sorts lines by their places; the place of a bundle is that of its first component.

    Lines without a known place are last.
    """
    place = line.location or next((part.location for part in line.parts if part.location), "")
    return not place, _PLACE_DIGITS.sub(lambda digits: digits[0].zfill(_WIDEST_NUMBER), place)


def _picked_lines(
    lines: Sequence[OrderLine], units_of: Callable[[OrderLine], int], labels: Mapping[int, ShelfLabel]
) -> list[PaperLine]:
    def line_of(line: OrderLine) -> PaperLine:
        at = labels.get(line.product_id, ShelfLabel())
        parts = [line_of(part) for part in line.components]
        units = units_of(line)
        return PaperLine(line.id, line.sku, line.name, units, parts=parts, location=at.location, ean=at.ean)

    return [line_of(line) for line in lines if units_of(line)]


async def packing_slip(tx: Transaction, reference: str, now: datetime, shipment_id: int | None = None) -> PackingSlip:
    """Return the packing slip of an order's shipment, by default of the latest one.

    Raises DomainError: not found (also the shipment), conflict (not confirmed, or nothing is dispatched).
    """
    [result] = await packing_slips(tx, [await fetch_order(tx, reference)], now, shipment_id)
    return _not_failed(result)


async def packing_slips(
    tx: Transaction, orders: Sequence[AnyOrder], now: datetime, shipment_id: int | None = None
) -> list[PackingSlip | DomainError]:
    """Return the packing slip of a shipment of each order, by default of the latest one, or why it has none."""
    order_ids = [order.id for order in orders]
    boxes, lines = await shipments_of(tx, order_ids), await lines_of(tx, order_ids)
    accounts = await accounts_of(tx, {order.customer_id for order in orders})

    def paper_of(found: AnyOrder) -> PackingSlip:
        order = require_confirmed(found, now, _ONLY)
        box = _chosen_shipment(boxes[order.id], shipment_id, order.name)
        return _packing_slip(order, box, lines[order.id], accounts[order.customer_id])

    return [_or_why_not(paper_of, order) for order in orders]


def _packing_slip(order: ConfirmedOrder, box: Shipped, lines: Sequence[OrderLine], account: Account) -> PackingSlip:
    option = find_option(order.shipping_options, box.shipping_method) or order.chosen_shipping
    return PackingSlip(
        order_reference=order.order_reference,
        customer_reference=order.customer_reference,
        customer_id=order.customer_id,
        shipment_id=box.id,
        dispatched_at=box.dispatched_at,
        tracking_number=box.tracking_number,
        delivery=delivery_of(order),
        contact_number=order.shipping_address.contact_number,
        shipping=box.carrier or option.name,
        packing=account.packing,
        lines=[_packed_line(line, box) for line in lines if box.units.get(line.id)],
        follow=[PaperLine(line.id, line.sku, line.name, line.undispatched) for line in lines if line.undispatched],
    )


def _chosen_shipment(boxes: Sequence[Shipped], shipment_id: int | None, name: str) -> Shipped:
    if not boxes:
        raise DomainError(Kind.CONFLICT, f"nothing of {name} is dispatched yet")
    if shipment_id is None:
        return boxes[-1]
    for box in boxes:
        if box.id == shipment_id:
            return box
    known = ", ".join(str(box.id) for box in boxes)
    raise DomainError(Kind.NOT_FOUND, f"{name} has no shipment {shipment_id}; its shipments are {known}")


def _packed_line(line: OrderLine, box: Shipped) -> PaperLine:
    def packed(part: OrderLine, units: int, parts: list[PaperLine]) -> PaperLine:
        serial_numbers = [number.serial_number for number in box.serial_numbers.get(part.id, ())]
        return PaperLine(part.id, part.sku, part.name, units, parts=parts, serial_numbers=serial_numbers)

    units = box.units[line.id]
    parts = [packed(part, units_per_bundle(part, line) * units, []) for part in line.components]
    return packed(line, units, parts)
