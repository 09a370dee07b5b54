"""Makes the picking list of an order: what to take from the shelf, and where it goes."""

from collections.abc import Callable, Sequence
from datetime import datetime

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.queries.orders import notes_of
from tradecounter.shipments.papers import PaperLine, PaperPart, PickingList, delivery_of, require_confirmed


async def picking_list(tx: Transaction, reference: str, now: datetime) -> PickingList:
    """Return the picking list of an order, named by its reference or id.

    Raises DomainError: not found, conflict (not confirmed, or nothing is allocated).
    """
    order = require_confirmed(await fetch_order(tx, reference), now)
    lines = await lines_of_order(tx, order.id)
    if not any(line.allocated for line in lines):
        waits = any(line.back_ordered for line in lines)
        why = "its units are back-ordered" if waits else "all its units are dispatched"
        raise DomainError(Kind.CONFLICT, f"nothing of {order.name} can be picked: {why}")
    account = await fetch_account(tx, order.customer_id)
    notes = await notes_of(tx, [order.id])
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
        lines=_units(lines, lambda line: line.allocated),
        follow=_units(lines, lambda line: line.back_ordered),
        notes=[note.text for note in notes[order.id]],
    )


def _units(lines: Sequence[OrderLine], units_of: Callable[[OrderLine], int]) -> list[PaperLine]:
    return [
        PaperLine(
            line.sku,
            line.name,
            units_of(line),
            [PaperPart(units_of(part), part.sku, part.name) for part in line.components],
        )
        for line in lines
        if units_of(line)
    ]
