"""`/`: what needs attention today, and the orders of the last days as a chart."""

from collections.abc import Sequence
from datetime import date, timedelta
from time import monotonic

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.billing.ageing_chart import ageing_chart, pounds
from tradecounter.billing.queries.debtors import DebtorTotals
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.charts import Chart, bar_chart
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import roles_of_caller, staff_id_of
from tradecounter.edge.permissions import allows
from tradecounter.edge.rest.call import Call
from tradecounter.imports.queries import list_imports
from tradecounter.imports.roles import readable_kinds
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import NOTHING, in_pounds
from tradecounter.kit.text import plural
from tradecounter.orders.queries.all_orders import OrderFilter
from tradecounter.orders.queries.order_table import DayOfOrders, order_table, orders_by_day
from tradecounter.parts.back_office import OfficeParts
from tradecounter.returns.wire import return_number
from tradecounter.saved_views.queries import views_on_today
from tradecounter.today.pages.staff.waiting import KEPT_SECONDS, KeptDebtors, read_today
from tradecounter.today.pages.staff.warehouse import read_warehouse


class DaysOfOrders(Struct):
    """Reads today's orders each time, and those of earlier days again after two minutes."""

    days: int
    _earlier: list[DayOfOrders] = field(default_factory=list)
    _read_on: date | None = None
    _read_at: float = 0.0

    async def until(self, tx: Transaction, today: date) -> list[DayOfOrders]:
        """Return the last days, in order, today included."""
        if self._read_on != today or monotonic() - self._read_at > KEPT_SECONDS:
            began = monotonic()
            self._earlier = await orders_by_day(tx, today - timedelta(days=self.days - 1), today - timedelta(days=1))
            self._read_on = today
            self._read_at = began
        return [*self._earlier, *await orders_by_day(tx, today, today)]


_DAYS = 30
_MOST_SHOWN = 10
_MOST_VIEWS = 12
_MOST_IMPORTS = 5


class TodayPages(Struct, frozen=True):
    """The first page of the back office."""

    desk: PageDesk
    parts: OfficeParts
    days: DaysOfOrders = field(default_factory=lambda: DaysOfOrders(_DAYS))
    debtors: KeptDebtors = field(default_factory=KeptDebtors)

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
                days = await self.days.until(tx, uk_date(now))
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
            charts=charts,
            newest=newest,
            day_of_warehouse=warehouse,
            return_number=return_number,
            day=uk_date(now),
        )


def _by_day(days: Sequence[DayOfOrders], *, with_money: bool) -> list[Chart]:
    named = [(f"{found.day.day} {found.day:%b}", found) for found in days]
    count = sum(found.orders for found in days)
    title = f"{plural(count, 'order')} confirmed in {_DAYS} days"
    made = [bar_chart(title, [(n, f.orders) for n, f in named], series="Orders")]
    if with_money:
        total = in_pounds(sum((found.gross for found in days), NOTHING))
        title = f"{total} confirmed in {_DAYS} days, with VAT"
        made.append(bar_chart(title, [(n, f.gross) for n, f in named], pounds, series="Orders with VAT"))
    return made


def _ageing(debtors: DebtorTotals) -> list[Chart]:
    if not debtors.debtors:
        return []
    return [ageing_chart(f"{in_pounds(debtors.due)} due, by age", debtors)]
