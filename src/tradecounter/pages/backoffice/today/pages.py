"""`/`: what needs somebody today."""

from dataclasses import dataclass
from datetime import timedelta

from starlette.responses import Response

from tradecounter.access.permissions import allows
from tradecounter.access.queries.staff import StaffMember
from tradecounter.db.job_queue import failed_jobs
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import uk_date
from tradecounter.ordering.queries.lookup import OrderFilter, list_quotes
from tradecounter.ordering.queries.order_table import OrderRow, order_table, orders_by_day
from tradecounter.ordering.rules import AWAITING_DISPATCH, BACK_ORDERED
from tradecounter.page_kit.charts import Chart, bar_chart
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.operation import page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.pages.session_gate import session_of
from tradecounter.rest.call import Call

_DAYS = 14
_MOST_COUNTED = 1_000
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure that a member of staff may see, with the page behind it."""

    name: str
    value: int
    path: str
    state: str


@dataclass(frozen=True, slots=True)
class TodayPages:
    """The first page of the back office."""

    desk: PageDesk
    parts: OfficeParts

    @page("/", "Today")
    async def show_today(self, call: Call) -> Response:
        session = session_of(call.request.scope)
        member = None if session is None else session.person
        roles = member.roles if isinstance(member, StaffMember) else []
        async with self.desk.reading() as tx:
            tiles, latest, chart = [], [], None
            if allows(roles, "orders:read"):
                tiles += await self._orders(tx)
                latest = await order_table(tx, OrderFilter(), "placed", _MOST_SHOWN, descending=True)
                chart = await self._chart(tx)
            if allows(roles, "quotes:read"):
                waiting = len(await list_quotes(tx, _MOST_COUNTED, waiting=True))
                tiles.append(Tile("Quotes to price", waiting, "/quote", "warn" if waiting else ""))
            if allows(roles, "events:read"):
                failed = sum(jobs.count for jobs in await failed_jobs(tx))
                tiles.append(Tile("Failed jobs", failed, "/job", "bad" if failed else ""))
        return self.desk.show(call, "today/today.html", tiles=tiles, latest=latest, chart=chart)

    async def _orders(self, tx: Transaction) -> list[Tile]:
        tiles = []
        for name, status in (("To dispatch", AWAITING_DISPATCH), ("Back-ordered", BACK_ORDERED)):
            found: list[OrderRow] = await order_table(
                tx, OrderFilter(status=status), "placed", _MOST_COUNTED, descending=True
            )
            tiles.append(Tile(name, len(found), f"/order?status={status.replace(' ', '+')}", ""))
        return tiles

    async def _chart(self, tx: Transaction) -> Chart:
        today = uk_date(self.desk.clock.now())
        days = await orders_by_day(tx, today - timedelta(days=_DAYS - 1), today)
        data = [(f"{found.day.day} {found.day:%b}", found.orders) for found in days]
        return bar_chart(f"Orders in the last {_DAYS} days", data, series="Orders")
