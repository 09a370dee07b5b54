"""`/`: what needs attention today, what the warehouse does, and the orders of the last days as a chart."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.billing.queries.debtors import DebtorTotals
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.charts import Chart, bar_chart
from tradecounter.edge.pages.operation import page, roles_of_caller, staff_id_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.permissions import allows
from tradecounter.edge.rest.call import Call
from tradecounter.goods_in.queries import ExpectedGoods, expected_goods
from tradecounter.imports.kinds import readable_kinds
from tradecounter.imports.queries import list_imports
from tradecounter.kit.clock import day_begins, day_ends, uk_date
from tradecounter.kit.money import NOTHING, in_pounds
from tradecounter.kit.text import plural
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.all_orders import DayOfOrders, OrderFilter, order_table, orders_by_day
from tradecounter.orders.queries.orders import lines_of
from tradecounter.orders.queries.today import Adjusted, orders_to_pick, stock_adjusted
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.parts.ageing_chart import ageing_chart
from tradecounter.parts.back_office import OfficeParts
from tradecounter.returns.queries import StoredReturn, list_returns
from tradecounter.returns.wire import return_number
from tradecounter.saved_views.queries import views_on_today
from tradecounter.shipments.papers import delivery_of
from tradecounter.today.pages.staff.waiting import Kept, read_today

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
    adjusted: Adjusted


async def read_warehouse(tx: Transaction, now: datetime) -> WarehouseDay:
    """Return the most urgent of each kind; of orders, those of the oldest that wait."""
    today, tomorrow = day_begins(uk_date(now)), day_ends(uk_date(now))
    confirmed_orders = await orders_to_pick(tx, _MOST_READ)
    lines = await lines_of(tx, [order.id for order in confirmed_orders])
    orders = [_to_pick(order, lines[order.id], now, tomorrow) for order in confirmed_orders]
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


_DAYS = 30
_MOST_SHOWN = 10
_MOST_VIEWS = 12
_MOST_IMPORTS = 5


class TodayPages(Struct, frozen=True):
    """The first page of the back office."""

    desk: PageDesk
    parts: OfficeParts
    days: Kept[list[DayOfOrders]] = field(default_factory=Kept)
    debtors: Kept[DebtorTotals] = field(default_factory=Kept)

    @page("/", "Today")
    async def show_today(self, call: Call) -> Response:
        roles = roles_of_caller(call)
        may = self.desk.view(call).may
        now = self.desk.clock.now()
        latest = []
        charts = []
        newest = None
        async with self.desk.reading() as tx:
            views = await views_on_today(tx, staff_id_of(call))
            today = await read_today(tx, roles, lambda scope: allows(roles, scope), now, self.debtors)
            kinds = readable_kinds(roles)
            imports = await list_imports(tx, _MOST_IMPORTS, kinds=kinds) if "catalogue" in roles else []
            warehouse = await read_warehouse(tx, now) if "warehouse" in roles else None
            if allows(roles, "orders:read") and roles != ["warehouse"]:
                latest = await order_table(tx, OrderFilter(), "placed", _MOST_SHOWN, descending=True)
                days = await self._days_of_orders(tx, uk_date(now))
                newest = days[-1]
                charts += _by_day(days, with_money=allows(roles, "billing:read"))
        if today.debtors is not None:
            charts += _ageing(today.debtors)
        return self.desk.show(
            call,
            "today/today.html",
            today=today,
            views=[view for view in views if may(view.path)][:_MOST_VIEWS],
            imports=imports,
            latest=latest,
            drawn=charts,
            newest=newest,
            day_of_warehouse=warehouse,
            return_number=return_number,
            day=uk_date(now),
        )

    async def _days_of_orders(self, tx: Transaction, today: date) -> list[DayOfOrders]:
        """Return the orders of the last days, in order; today's are read each time."""
        first, yesterday = today - timedelta(days=_DAYS - 1), today - timedelta(days=1)
        earlier = await self.days.read(today, lambda: orders_by_day(tx, first, yesterday))
        return [*earlier, *await orders_by_day(tx, today, today)]


def _by_day(days: Sequence[DayOfOrders], *, with_money: bool) -> list[Chart]:
    named = [(f"{found.day.day} {found.day:%b}", found) for found in days]
    count = sum(found.orders for found in days)
    title = f"{plural(count, 'order')} confirmed in {_DAYS} days"
    made = [bar_chart(title, [(n, f.orders) for n, f in named], series="Orders")]
    if with_money:
        total = in_pounds(sum((found.gross for found in days), NOTHING))
        title = f"{total} confirmed in {_DAYS} days, with VAT"
        made.append(bar_chart(title, [(n, f.gross) for n, f in named], in_pounds, series="Orders with VAT"))
    return made


def _ageing(debtors: DebtorTotals) -> list[Chart]:
    if not debtors.debtors:
        return []
    return [ageing_chart(f"{in_pounds(debtors.due)} due, by age", debtors)]
