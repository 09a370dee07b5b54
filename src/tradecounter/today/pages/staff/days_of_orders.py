"""The orders of the last days; earlier days, which change only with an amendment or a cancellation, are read seldom."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from time import monotonic

from tradecounter.db.transaction import Transaction
from tradecounter.orders.queries.order_table import DayOfOrders, orders_by_day

_KEPT_SECONDS = 120.0  # with many orders, reading a month takes a tenth of a second


@dataclass(slots=True)
class DaysOfOrders:
    """Reads today's orders each time, and those of earlier days again after two minutes."""

    days: int
    _earlier: list[DayOfOrders] = field(default_factory=list)
    _read_on: date | None = None
    _read_at: float = 0.0

    async def until(self, tx: Transaction, today: date) -> list[DayOfOrders]:
        """Return the last days, in order, today included."""
        if self._read_on != today or monotonic() - self._read_at > _KEPT_SECONDS:
            began = monotonic()
            self._earlier = await orders_by_day(tx, today - timedelta(days=self.days - 1), today - timedelta(days=1))
            self._read_on, self._read_at = today, began
        return [*self._earlier, *await orders_by_day(tx, today, today)]
