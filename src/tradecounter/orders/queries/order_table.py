"""Reads the orders of all customers as a table, sorted and page by page, and counts them by day."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import After, SortColumn, SortedTable
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.queries.all_orders import OrderFilter, where_orders, with_state
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.states import OrderKind, State


class OrderRow(Struct, frozen=True):
    """An order or a quote in a table; `name` is its reference or, until it is confirmed, its confirmation code.

    `exact` is whether the text of a search names it.
    """

    id: int
    name: str
    kind: OrderKind
    state: State
    status: str | None
    customer_id: int
    customer: str
    customer_reference: str
    gross: Decimal
    placed_at: datetime
    exact: bool = False

    @property
    def label(self) -> str:
        """The status, or the state of an order without one."""
        return self.status or self.state


ORDER_ROW = SQL("""
    select orders.id, coalesce(orders.order_reference, orders.confirmation_code) as name, orders.kind, orders.state,
           orders.status, orders.customer_id, {} as customer, orders.customer_reference, orders.gross,
           coalesce(orders.confirmed_at, orders.created_at) as placed_at
""")
WITH_CUSTOMER = ORDER_ROW.format(CUSTOMER_NAME)
_OF_PAGE = SQL("{} from ({}) as chosen join orders using (id) join customer as c on c.id = orders.customer_id")
_MOMENT = SQL("timestamptz")
ORDERS: SortedTable[OrderRow] = SortedTable(
    # Of the many that match, the rows of a page are chosen first: an index may have all that this takes.
    select=SQL("select orders.id from orders"),
    joined=lambda page: _OF_PAGE.format(WITH_CUSTOMER, page),
    row=OrderRow,
    columns={
        "placed": SortColumn(
            SQL("coalesce(orders.confirmed_at, orders.created_at)"), _MOMENT, datetime, lambda row: row.placed_at
        ),
        # The same of confirmed orders, by an index.
        "confirmed": SortColumn(SQL("orders.confirmed_at"), _MOMENT, datetime, lambda row: row.placed_at),
        "total": SortColumn(SQL("orders.gross"), SQL("numeric"), Decimal, lambda row: row.gross),
        "customer": SortColumn(SQL("orders.customer_id"), SQL("bigint"), int, lambda row: row.customer_id),
    },
    key=SQL("orders.id"),
    key_of=lambda row: row.id,
)
SORTS: Mapping[str, Any] = {name: kind for name, kind in ORDERS.sorts.items() if name != "confirmed"}


async def order_table(
    tx: Transaction, wanted: OrderFilter, column: str, most: int, *, descending: bool, after: After = None
) -> list[OrderRow]:
    """Return rows that match a filter, sorted by a column of `SORTS`, after the value and the id in `after`."""
    wanted = with_state(wanted)
    has_index = wanted.customer_id or wanted.status or wanted.to_dispatch
    if column == "placed" and wanted.state == "confirmed" and has_index:
        column = "confirmed"
    return await ORDERS.page_where(tx, where_orders(wanted), column, most, descending=descending, after=after)


class DayOfOrders(Struct, frozen=True):
    """How many orders were confirmed on a UK day, and their gross."""

    day: date
    orders: int
    gross: Decimal


# The statuses make it a scan of their index only, which has all columns.
_BY_DAY = Statement(
    """
    select d::date as day, coalesce(f.orders, 0) as orders, coalesce(f.gross, 0.00) as gross
    from generate_series(:since::date, :until::date, interval '1 day') as d
    left join (
        select (confirmed_at at time zone 'Europe/London')::date as day, count(*) as orders, sum(gross) as gross
        from orders
        where state = 'confirmed' and status = any(:statuses::text[])
          and confirmed_at >= :since::timestamp at time zone 'Europe/London'
          and confirmed_at < (:until::date + 1)::timestamp at time zone 'Europe/London'
        group by 1
    ) as f on f.day = d::date
    order by d
    """,
    DayOfOrders,
)


async def orders_by_day(tx: Transaction, since: date, until: date) -> list[DayOfOrders]:
    """Return the confirmed orders of each day, days without orders included."""
    return await tx.fetch_all(_BY_DAY, since=since, until=until, statuses=list(STATUSES))
