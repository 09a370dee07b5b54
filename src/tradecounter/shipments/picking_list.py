"""Makes the picking list of an order: what to take from the shelf, and where it goes."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from tradecounter.customers.queries.accounts import accounts_of
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.lines import lines_of
from tradecounter.orders.queries.orders import OrderNote, notes_of
from tradecounter.orders.states import AnyOrder
from tradecounter.shipments.papers import PaperLine, PaperPart, PickingList, delivery_of, require_confirmed
from tradecounter.stock.queries.stock_of_product import ShelfLabel, shelf_labels_of

_DIGITS = re.compile(r"[0-9]+")
_WIDEST = 10  # digits; then shelf 9 comes before shelf 10


async def picking_list(tx: Transaction, reference: str, now: datetime) -> PickingList:
    """Return the picking list of an order, named by its reference or id.

    Raises DomainError: not found, conflict (not confirmed, or nothing is allocated).
    """
    [found] = await picking_lists(tx, [await fetch_order(tx, reference)], now)
    if isinstance(found, DomainError):
        raise found
    return found


async def picking_lists(tx: Transaction, orders: Sequence[AnyOrder], now: datetime) -> list[PickingList | DomainError]:
    """Return the picking list of each order, or why it has none."""
    order_ids = [order.id for order in orders]
    lines = await lines_of(tx, order_ids)
    accounts = await accounts_of(tx, {order.customer_id for order in orders})
    notes = await notes_of(tx, order_ids)
    labels = await _labels(tx, [line for each in lines.values() for line in each])
    made: list[PickingList | DomainError] = []
    for order in orders:
        try:
            account = accounts[order.customer_id]
            made.append(_picking_list(order, lines[order.id], account, notes[order.id], labels, now))
        except DomainError as error:
            made.append(error)
    return made


async def shelves_of(tx: Transaction, order_id: int) -> dict[int, PaperLine]:
    """Return an order's allocated units with the places from which they are taken, by line id, in the order of places.

    Bundles have their components. Without any known place, there are none.
    """
    lines = (await lines_of(tx, [order_id]))[order_id]
    found = sorted(_units(lines, lambda line: line.allocated, await _labels(tx, lines)), key=by_shelf)
    is_known = any(line.location or any(part.location for part in line.parts) for line in found)
    return {line.line_id: line for line in found} if is_known else {}


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
    order = require_confirmed(found, now)
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
        lines=sorted(_units(lines, lambda line: line.allocated, labels), key=by_shelf),
        follow=_units(lines, lambda line: line.back_ordered, {}),
        notes=[note.text for note in notes],
    )


def by_shelf(line: PaperLine) -> tuple[bool, str]:
    """Return the key that sorts lines by their places; the place of a bundle is that of its first component.

    Lines without a known place are last.
    """
    place = line.location or next((part.location for part in line.parts if part.location), "")
    return not place, _DIGITS.sub(lambda digits: digits[0].zfill(_WIDEST), place)


def _units(
    lines: Sequence[OrderLine], units_of: Callable[[OrderLine], int], labels: Mapping[int, ShelfLabel]
) -> list[PaperLine]:
    def part_of(part: OrderLine) -> PaperPart:
        at = labels.get(part.product_id, ShelfLabel())
        return PaperPart(part.id, units_of(part), part.sku, part.name, location=at.location, ean=at.ean)

    def line_of(line: OrderLine) -> PaperLine:
        at = labels.get(line.product_id, ShelfLabel())
        parts = [part_of(part) for part in line.components]
        return PaperLine(line.id, line.sku, line.name, units_of(line), parts, location=at.location, ean=at.ean)

    return [line_of(line) for line in lines if units_of(line)]
