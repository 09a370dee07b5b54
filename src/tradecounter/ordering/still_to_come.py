"""What of a confirmed order is still to come, and when it is expected to leave (decisions, shipping dates)."""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.kit.local_time import uk_date
from tradecounter.ordering.records import LineRecord, OrderRecord
from tradecounter.shipping.rules import shipping_dates
from tradecounter.stock.rules import FROM_STOCK


def expected_dispatch(order: OrderRecord, lines: Sequence[LineRecord], now: datetime) -> datetime | None:
    """Return when the rest of a confirmed order is expected to leave; None when nothing is left, or nobody knows.

    What is allocated leaves at the next cut-off. A back-order leaves on the date that was worked out for it, which
    nobody knows once the day has passed.
    """
    if not any(line.to_come for line in lines):
        return None
    chosen = next(offered for offered in order.offers if offered.id == order.shipping_method)
    if not any(line.back_ordered for line in lines):
        dates = shipping_dates(now, chosen.cut_off, chosen.transit_days, FROM_STOCK)
        return None if dates is None else dates.dispatch
    known = chosen.dispatch is not None and uk_date(chosen.dispatch) >= uk_date(now)
    return chosen.dispatch if known else None
