"""What the warehouse does today: orders to pick by when they should leave, deliveries and returns that come, counts."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.goods_in.queries import ExpectedGoods, expected_goods
from tradecounter.kit.local_time import at_uk_time, uk_date
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.lines import lines_of
from tradecounter.orders.queries.today import Waiting, orders_to_pick, stock_adjusted
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.returns.queries.returns import StoredReturn, list_returns
from tradecounter.shipments.papers import delivery_of

_MOST_READ = 100  # orders, of which the most urgent are shown
_MOST_ORDERS = 20
_MOST_OTHERS = 8


class OrderToPick(Struct, frozen=True):
    """An order with units that can leave. `leaves_at` is what its customer was told; it may be past.

    `is_rest` is whether a part has left already.
    """

    name: str
    deliver_to: str
    service: str
    leaves_at: datetime | None
    units: int
    waiting: int
    is_late: bool
    leaves_today: bool
    is_rest: bool


class WarehouseDay(Struct, frozen=True):
    """What the warehouse does today; `deliveries` say whether they are late, `adjusted` counts products."""

    orders: Sequence[OrderToPick]
    deliveries: Sequence[tuple[ExpectedGoods, bool]]
    returns: Sequence[StoredReturn]
    adjusted: Waiting


async def read_warehouse(tx: Transaction, now: datetime) -> WarehouseDay:
    """Return the most urgent of each kind; of orders, those of the oldest that wait."""
    today = at_uk_time(uk_date(now), time())
    tomorrow = at_uk_time(uk_date(now) + timedelta(days=1), time())
    found = await orders_to_pick(tx, _MOST_READ)
    lines = await lines_of(tx, [order.id for order in found])
    orders = [_to_pick(order, lines[order.id], now, tomorrow) for order in found]
    coming = await expected_goods(tx, "", _MOST_OTHERS)
    return WarehouseDay(
        orders=sorted(orders, key=_urgency)[:_MOST_ORDERS],
        deliveries=[(goods, goods.expected_on < today) for goods in coming if goods.expected_on < tomorrow],
        returns=await list_returns(tx, _MOST_OTHERS, state="open"),
        adjusted=await stock_adjusted(tx, today),
    )


def _to_pick(order: ConfirmedOrder, lines: Sequence[OrderLine], now: datetime, tomorrow: datetime) -> OrderToPick:
    leaves_at = order.chosen_shipping.dispatch
    return OrderToPick(
        name=order.name,
        deliver_to=delivery_of(order).name,
        service=order.chosen_shipping.name,
        leaves_at=leaves_at,
        units=sum(line.allocated for line in lines),
        waiting=sum(line.back_ordered for line in lines),
        is_late=leaves_at is not None and leaves_at < now,
        leaves_today=leaves_at is not None and now <= leaves_at < tomorrow,
        is_rest=any(line.dispatched for line in lines),
    )


def _urgency(order: OrderToPick) -> tuple[bool, datetime | None, str]:
    """Return what sorts orders: those without a date last."""
    return order.leaves_at is None, order.leaves_at, order.name
