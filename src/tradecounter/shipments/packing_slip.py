"""Makes the packing slip of a shipment: what is in the box, and what is still to come."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.fulfilled import Shipped
from tradecounter.orders.lines import OrderLine, units_per_bundle
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.shipping_options import find_option
from tradecounter.orders.wire import ProductSerialNumber
from tradecounter.shipments.papers import PackingSlip, PaperLine, PaperPart, delivery_of, require_confirmed
from tradecounter.shipments.queries.reads import numbers_by_shipment, shipments_of


async def packing_slip(tx: Transaction, reference: str, now: datetime, shipment_id: int | None = None) -> PackingSlip:
    """Return the packing slip of an order's shipment, by default of the latest one.

    Raises DomainError: not found (also the shipment), conflict (not confirmed, or nothing is dispatched).
    """
    order = require_confirmed(await fetch_order(tx, reference), now)
    box = _chosen(await shipments_of(tx, order.id), shipment_id, order.name)
    account = await fetch_account(tx, order.customer_id)
    lines = await lines_of_order(tx, order.id)
    numbers = await numbers_by_shipment(tx, [order.id])
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
        lines=[_packed(line, box, numbers) for line in lines if box.units.get(line.id)],
        follow=[PaperLine(line.id, line.sku, line.name, line.to_come) for line in lines if line.to_come],
    )


def _chosen(boxes: Sequence[Shipped], shipment_id: int | None, name: str) -> Shipped:
    if not boxes:
        raise DomainError(Kind.CONFLICT, f"nothing of {name} is dispatched yet")
    if shipment_id is None:
        return boxes[-1]
    for box in boxes:
        if box.id == shipment_id:
            return box
    known = ", ".join(str(box.id) for box in boxes)
    raise DomainError(Kind.NOT_FOUND, f"{name} has no shipment {shipment_id}; its shipments are {known}")


def _packed(
    line: OrderLine, box: Shipped, numbers: Mapping[tuple[int, int], Sequence[ProductSerialNumber]]
) -> PaperLine:
    units = box.units[line.id]

    def numbers_of(part: OrderLine) -> list[str]:
        return [number.serial_number for number in numbers[box.id, part.id]]

    return PaperLine(
        line.id,
        line.sku,
        line.name,
        units,
        [
            PaperPart(part.id, units_per_bundle(part, line) * units, part.sku, part.name, numbers_of(part))
            for part in line.components
        ],
        numbers_of(line),
    )
