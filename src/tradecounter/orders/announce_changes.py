"""Records the events on changed prices and stock: at most one a minute for a customer, and one for the reseller."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tradecounter.db.transaction import Transaction
from tradecounter.events.record import EventType, NewEvent, record_events
from tradecounter.kit.clock import uk_date, whole_minute
from tradecounter.orders.queries.announcements import (
    ChangedSkus,
    changed_prices,
    changed_stock,
    lock_announced,
    orders_since,
    store_announced,
)

ORDERED_WITHIN = timedelta(days=90)  # for this long, a SKU concerns the customer who ordered it


async def announce_changes(tx: Transaction, now: datetime) -> int:
    """Record the events for the changes since the last announcement; return how many. Does so once a minute at most."""
    last = await lock_announced(tx)
    if last is None or whole_minute(last.at) == whole_minute(now):
        return 0
    recent, count, today = await orders_since(tx, now - ORDERED_WITHIN), 0, uk_date(now)
    if not last.is_foreign:
        count += _record(tx, "stock.changed", await changed_stock(tx, last.snapshot, recent, today), now)
        if last.new_prices or uk_date(last.at) != today:
            count += _record(tx, "price.changed", await changed_prices(tx, last.snapshot, recent, today), now)
    await store_announced(tx, last, now)
    return count


def _record(tx: Transaction, type_: EventType, changes: Sequence[ChangedSkus], now: datetime) -> int:
    topic = type_.partition(".")[0]
    events = [
        NewEvent(
            topic if change.customer_id is None else f"customer/{change.customer_id}",
            change.customer_id,
            {"skus": change.skus, "more": change.more},
        )
        for change in changes
    ]
    record_events(tx, type_, events, now)
    return len(changes)
