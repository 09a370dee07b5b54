"""Allocates new stock to waiting orders, earliest confirmed first, and updates the expected dates of back-orders."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import added_up
from tradecounter.orders.queries.back_orders import (
    WaitingOrder,
    covers_of_waiting,
    lock_confirmed_orders,
    lock_levels_to_serve,
    serve_lines,
    set_status_of_served,
    store_expected_dates,
    waiting_orders,
)
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.shipping.rules import next_working_day
from tradecounter.stock.queries.stock import move_served_units
from tradecounter.stock.rules import Cover


async def allocate_back_orders(tx: Transaction) -> int:
    """Allocate available stock to waiting lines; return the number of lines that got units.

    The caller has called `lock_waiting_orders`: its advisory lock lets one transaction serve at a time, so no line is
    served twice. Locks the stock levels that it serves from.
    """
    served = await lock_levels_to_serve(tx)
    if served:
        await serve_lines(tx, served)
        await move_served_units(tx, added_up((line.product_id, line.units) for line in served))
        await set_status_of_served(tx, {line.order_id for line in served})
    return len(served)


_MOST_AT_ONCE = 500  # orders that one transaction changes


class _Covers(Struct, frozen=True):
    """The cover of each order by its id: `strict` by deliveries from today on, `lenient` also by recent deliveries."""

    strict: Mapping[int, Cover]
    lenient: Mapping[int, Cover]


async def update_expected_dates(tx: Transaction, now: datetime) -> int:
    """Update the expected dates of back-orders; queue an e-mail about each change; return the number of changes.

    An overdue delivery covers nothing. But a date that the customer knows stays until the planned dispatch day has
    passed. On that day the units may not be booked in yet. An e-mail about an unknown date would then arrive just
    before the e-mail about the dispatch. Orders that others have locked are left for the next run.
    """
    covers, updated = await _read_covers(tx, now), 0
    moved = [order.id for order in await waiting_orders(tx, covers.strict) if _is_moved(order, covers)]
    if not moved:
        return 0
    orders = await lock_confirmed_orders(tx, moved[:_MOST_AT_ONCE])
    covers = await _read_covers(tx, now)  # before they were locked, others may have served, amended or updated them
    for order in orders:
        if _is_moved(WaitingOrder(order.id, order.confirmed_at, order.chosen_shipping), covers):
            options = [option.dated(order.confirmed_at, covers.strict[order.id]) for option in order.shipping_options]
            await store_expected_dates(tx, order.id, options, now)
            queue(tx, "mail_order_expected_date", order_id=order.id, changed=int(now.timestamp()))
            dated = replace(order, shipping_options=options)
            before, after = ({"expected_dispatch_date": _day(each.chosen_shipping)} for each in (order, dated))
            record_order_event(tx, "order.expected_date_changed", order, now, **after)
            audit_order(tx, "order.reschedule", order, now, before=before, after=after)
            updated += 1
    return updated


async def _read_covers(tx: Transaction, now: datetime) -> _Covers:
    today = uk_date(now)
    return _Covers(await covers_of_waiting(tx, today), await covers_of_waiting(tx, _first_delivery_to_leave(today)))


def _is_moved(order: WaitingOrder, covers: _Covers) -> bool:
    """Return whether an order that waits has another day of dispatch by its covers than the one that is known."""
    if order.option is None or not (order.id in covers.strict and order.id in covers.lenient):
        return False
    dated = [order.option.dated(order.confirmed_at, found[order.id]) for found in (covers.strict, covers.lenient)]
    return _day(order.option) not in map(_day, dated)


def _day(option: ShippingOption) -> date | None:
    return None if option.dispatch is None else uk_date(option.dispatch)


def _first_delivery_to_leave(today: date) -> date:
    """Return the earliest delivery day whose orders leave today or later."""
    first = today
    while next_working_day(first - timedelta(days=1)) >= today:
        first -= timedelta(days=1)
    return first
