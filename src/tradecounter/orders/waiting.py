"""Why an order has not left: what each of its lines waits for, as a sentence and in short.

Customers and staff read the same sentences.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from tradecounter.credit.rules import CreditRoom
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import day_on_pages, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.wire import made_from
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.all_orders import OrderRow
from tradecounter.orders.queries.back_orders import queues_of_orders
from tradecounter.orders.queries.orders import lines_of
from tradecounter.orders.rules import AWAITING_DISPATCH, BACK_ORDERED, PART_DISPATCHED, PART_INVOICED
from tradecounter.stock.queries.stock import deliveries_of_products
from tradecounter.stock.rules import Delivery, covering

_MOST_NAMED = 3
MAY_WAIT = (AWAITING_DISPATCH, BACK_ORDERED, PART_DISPATCHED, PART_INVOICED)


class OpenLine(Struct, frozen=True):
    """A line of a confirmed order with the units that have not left."""

    id: int
    sku: str
    quantity: int
    allocated: int
    back_ordered: int


def open_lines_of(lines: Sequence[OrderLine]) -> list[OpenLine]:
    """Return the lines of a confirmed order that have units left to dispatch."""
    return [made_from(line, OpenLine) for line in lines if line.to_come]


class Queue(Struct, frozen=True):
    """The deliveries of a back-ordered line's product by date; `earlier` units of them are for other orders.

    `deliveries` is None if the reader may not see them.
    """

    earlier: int = 0
    deliveries: Sequence[Delivery] | None = ()


class Wait(Struct, frozen=True):
    """What a line or an order waits for, as a sentence and as a short state.

    `until` is when the delivery that it waits for is expected; None if nobody knows, or without one.
    """

    reason: Literal["stock", "other lines", "packing", "approval", "credit", "confirmation"]
    sentence: str
    short: str
    until: date | None = None


def waits_of_lines(
    lines: Sequence[OpenLine], queues: Mapping[int, Queue], leaves: datetime | None, now: datetime
) -> dict[int, Wait]:
    """Return what each line waits for, by its id, without lines of which nothing is left to come.

    `leaves` is when the rest of the order is expected to leave, None if nobody knows.
    """
    late = [line.sku for line in lines if line.back_ordered]
    waits = {}
    for line in lines:
        if line.back_ordered:
            waits[line.id] = _for_stock(line, queues.get(line.id, Queue()), now)
        elif line.allocated:
            waits[line.id] = _for_others(late, leaves) if late else _for_packing(leaves, now)
    return waits


def wait_of_order(waits: Mapping[int, Wait]) -> Wait | None:
    """Return what an order waits for longest; stock comes before everything else."""
    stock = [wait for wait in waits.values() if wait.reason == "stock"]
    return max(stock or waits.values(), key=lambda wait: wait.until or date.max, default=None)


def wait_of_pending(
    gross: Decimal, expires_at: datetime | None, asked_at: datetime | None, room: CreditRoom | None
) -> Wait:
    """Return what an unconfirmed order waits for.

    `asked_at` is when somebody requested approval; without `room`, credit is ignored.
    """
    if asked_at is not None:
        return Wait("approval", f"It waits for approval since {_day(asked_at)}.", "Waits for approval")
    if room is not None and room.limit is None:
        return Wait("credit", "It waits for credit terms: the account has none.", "Waits for credit terms")
    if room is not None and not room.covers(gross):
        missing = in_pounds(gross - room.available)
        return Wait("credit", f"It waits for credit: {missing} more than is left.", f"Waits for {missing} of credit")
    until = "" if expires_at is None else f", until {_day(expires_at)}"
    return Wait("confirmation", f"It waits to be confirmed{until}.", "Waits to be confirmed")


async def waits_of_orders(
    tx: Transaction,
    lines: Mapping[int, Sequence[OpenLine]],
    leaves: Mapping[int, datetime | None],
    now: datetime,
    *,
    sees_deliveries: bool = True,
) -> dict[int, dict[int, Wait]]:
    """Return what the lines of confirmed orders wait for, by internal order id, with two statements."""
    queued = await queues_of_orders(tx, list(lines))
    deliveries = await deliveries_of_products(tx, sorted({product_id for product_id, _ in queued.values()}))
    queues = {
        line_id: Queue(earlier, deliveries.get(product_id, ()) if sees_deliveries else None)
        for line_id, (product_id, earlier) in queued.items()
    }
    return {
        order_id: waits_of_lines(of_order, queues, leaves.get(order_id), now) for order_id, of_order in lines.items()
    }


async def waits_of_rows(
    tx: Transaction, rows: Sequence[OrderRow], now: datetime, *, sees_deliveries: bool = True
) -> dict[int, Wait]:
    """Return what the orders of a table wait for, by internal id, with a fixed number of statements."""
    ids = [row.id for row in rows if row.status in MAY_WAIT]
    if not ids:
        return {}
    lines = {order_id: open_lines_of(of_order) for order_id, of_order in (await lines_of(tx, ids)).items()}
    waits = await waits_of_orders(tx, lines, {}, now, sees_deliveries=sees_deliveries)
    wait_of = {order_id: wait_of_order(of_order) for order_id, of_order in waits.items()}
    return {order_id: wait for order_id, wait in wait_of.items() if wait is not None}


def _for_stock(line: OpenLine, queue: Queue, now: datetime) -> Wait:
    some = {1: "It waits", 2: "Both wait"}.get(line.quantity, f"All {line.quantity:,} wait")
    if line.back_ordered < line.quantity:
        some = f"{line.back_ordered:,} of {line.quantity:,} wait"
    ready = (
        f" {line.allocated:,} {'is' if line.allocated == 1 else 'are'} reserved and ready." if line.allocated else ""
    )
    if queue.deliveries is None:
        return Wait("stock", f"{some} for stock.{ready}", "Waits for stock")
    coming = [each for each in queue.deliveries if uk_date(each.expected_on) >= uk_date(now)]
    delivery = covering(coming, queue.earlier + line.back_ordered, now)
    if delivery is not None:
        day = _day(delivery.expected_on)
        first = f", after {queue.earlier:,} for earlier orders" if queue.earlier else ""
        are = "is" if delivery.incoming == 1 else "are"
        said = f"{some} for stock: {delivery.incoming:,} {are} expected on {day}{first}."
        return Wait("stock", said + ready, f"Waits for stock, {day}", uk_date(delivery.expected_on))
    if coming:
        last = coming[-1]
        units, few = sum(each.incoming for each in coming), "go to earlier orders" if queue.earlier else "are too few"
        said = (
            f"{some} for stock. The {units:,} expected{' until' if len(coming) > 1 else ' on'} {_day(last.expected_on)}"
            f" {few}, and no later delivery is known yet."
        )
    elif queue.deliveries:
        last = queue.deliveries[-1]
        said = f"{some} for stock. The delivery of {last.incoming:,} due on {_day(last.expected_on)} is late."
    else:
        said = f"{some} for stock. No delivery is expected yet."
    return Wait("stock", said + ready, "Waits for stock, no date yet")


def _for_others(late: Sequence[str], leaves: datetime | None) -> Wait:
    named = ", ".join(late[:_MOST_NAMED]) + (" and others" if len(late) > _MOST_NAMED else "")
    planned = f", planned for {_day(leaves)}" if leaves is not None else ""
    return Wait("other lines", f"Reserved. It waits to leave with {named}{planned}.", f"Waits for {late[0]}")


def _for_packing(leaves: datetime | None, now: datetime) -> Wait:
    if leaves is None:
        return Wait("packing", "Reserved, and next to be packed.", "Being packed")
    day = "today" if uk_date(leaves) == uk_date(now) else f"on {_day(leaves)}"
    return Wait("packing", f"Reserved. It is packed and leaves {day}.", f"Leaves {day}")


def _day(moment: datetime) -> str:
    return day_on_pages(uk_date(moment))
