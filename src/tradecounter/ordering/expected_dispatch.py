"""When what is still to come of a confirmed order is expected to leave (decisions, shipping dates)."""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.kit.local_time import uk_date
from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.states import NumberedOrder
from tradecounter.shipping.rules import shipping_dates
from tradecounter.stock.rules import FROM_STOCK


def expected_dispatch(order: NumberedOrder, lines: Sequence[OrderLine], now: datetime) -> datetime | None:
    """Return when the rest of an order is expected to leave; None when nothing is left, or the date is not known.

    What is allocated leaves at the next cut-off. A back-order leaves on the date that was worked out for it, which is
    not known once the day has passed.
    """
    if not any(line.to_come for line in lines):
        return None
    chosen = order.chosen_shipping
    if not any(line.back_ordered for line in lines):
        dates = shipping_dates(now, chosen.cut_off, chosen.transit_days, FROM_STOCK)
        return None if dates is None else dates.dispatch
    known = chosen.dispatch is not None and uk_date(chosen.dispatch) >= uk_date(now)
    return chosen.dispatch if known else None
