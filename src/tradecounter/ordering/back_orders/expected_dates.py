"""Following the deliveries that back-orders wait for: new expected dates are stored, and the customer is told.

Decisions, shipping dates. An overdue delivery covers nothing. But a date that the customer knows stays until the day
has passed on which orders were to leave with it. On that day its units may not be in stock yet, and a mail about an
unknown date would be followed by the one about the dispatch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import uk_date
from tradecounter.ordering.queries.back_orders import confirmed_orders, covers_of_waiting, store_expected_dates
from tradecounter.ordering.shipping_options import ShippingOption, find_option
from tradecounter.ordering.states import ConfirmedOrder
from tradecounter.shipping.working_days import next_working_day
from tradecounter.stock.rules import Cover

_MOST = 500  # orders that one transaction changes


@dataclass(frozen=True, slots=True)
class _Covers:
    """What covers each order by its id: by the deliveries of today and later, and by those of the last days as well."""

    strict: Mapping[int, Cover]
    lenient: Mapping[int, Cover]


async def update_expected_dates(tx: Transaction, now: datetime) -> int:
    """Bring the expected dates of back-orders up to date; queue a mail about each change; return how many changed."""
    today = uk_date(now)
    first = _first_delivery_to_leave(today)
    covers = _Covers(await covers_of_waiting(tx, today), await covers_of_waiting(tx, first))
    waiting = covers.strict.keys() & covers.lenient.keys()
    changed = [o.id for o in await confirmed_orders(tx, waiting) if _changed_options(o, covers) is not None]
    # Locked, and looked at again: another worker may do the same, or the order may have been cancelled.
    for order in await confirmed_orders(tx, changed[:_MOST], lock=True):
        options = _changed_options(order, covers)
        if options is not None:
            await store_expected_dates(tx, order.id, options, now)
            await queue(tx, "mail_order_expected_date", order_id=order.id, changed=_whole_seconds(now))
    return len(changed[:_MOST])


def _changed_options(order: ConfirmedOrder, covers: _Covers) -> list[ShippingOption] | None:
    """Return the shipping options with their dates by what covers the order; None when the days stay the same."""
    strict, lenient = (
        [option.dated(order.confirmed_at, found[order.id]) for option in order.shipping_options]
        for found in (covers.strict, covers.lenient)
    )
    known = _day(order, order.shipping_options)
    return None if known in (_day(order, strict), _day(order, lenient)) else strict


def _day(order: ConfirmedOrder, options: Sequence[ShippingOption]) -> date | None:
    chosen = find_option(options, order.shipping_method)
    return None if chosen is None or chosen.dispatch is None else uk_date(chosen.dispatch)


def change_told_by(changed_at: datetime | None) -> int:
    """Return the `changed` argument of the mail about the latest change; 0 without any."""
    return 0 if changed_at is None else _whole_seconds(changed_at)


def _whole_seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def _first_delivery_to_leave(today: date) -> date:
    """Return the earliest day of a delivery with which orders leave today or later."""
    first = today
    while next_working_day(first - timedelta(days=1)) >= today:
        first -= timedelta(days=1)
    return first
