"""The orders of all customers as a table: sorted by a column, page by page."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.queries.all_orders import OrderFilter, conditions_of, values_of
from tradecounter.orders.rules import CANCELLED, STATUSES


class OrderRow(Struct, frozen=True):
    """An order or a quote in a table; `name` is its reference or, until it is confirmed, its confirmation code."""

    id: int
    name: str
    kind: str
    state: str
    status: str | None
    customer_id: int
    customer: str
    customer_reference: str
    gross: Decimal
    placed_at: datetime

    @property
    def label(self) -> str:
        """The status, or the state of an order without one."""
        return self.status or self.state


# By column: the expression, its type, and its type in a cursor.
_SORTS: Mapping[str, tuple[SQL, SQL, Any]] = {
    "placed": (SQL("coalesce(confirmed_at, created_at)"), SQL("timestamptz"), datetime),
    "confirmed": (SQL("confirmed_at"), SQL("timestamptz"), datetime),  # the same of confirmed orders, by an index
    "total": (SQL("gross"), SQL("numeric"), Decimal),
    "customer": (SQL("customer_id"), SQL("bigint"), int),
}
SORTS: Mapping[str, Any] = {name: kind for name, (_, _, kind) in _SORTS.items() if name != "confirmed"}

# Of the many that match, the rows of a page are chosen first: an index may have all that this takes.
_PAGE = SQL("""
    select o.id, coalesce(o.order_reference, o.confirmation_code) as name, o.kind, o.state, o.status, o.customer_id,
           {customer} as customer, o.customer_reference,
           o.gross, coalesce(o.confirmed_at, o.created_at) as placed_at
    from (select id from orders where {conditions} order by {column} {order}, id {order} limit :most) as chosen
    join orders as o using (id)
    join customer as c on c.id = o.customer_id
    order by {outer} {order}, o.id {order}
""")
_OUTER = {
    "placed": SQL("coalesce(o.confirmed_at, o.created_at)"),
    "confirmed": SQL("o.confirmed_at"),
    "total": SQL("o.gross"),
    "customer": SQL("o.customer_id"),
}
_ALL = SQL("true")
_BEHIND = SQL("({column}, id) {sign} (:after_value::{kind}, :after_id)")


def sorted_by(row: OrderRow, column: str) -> Any:
    """Return the value of a row by which a column sorts."""
    values = {"placed": row.placed_at, "confirmed": row.placed_at, "total": row.gross, "customer": row.customer_id}
    return values[column]


async def order_table(
    tx: Transaction,
    wanted: OrderFilter,
    column: str,
    most: int,
    *,
    descending: bool,
    after: tuple[Any, int] | None = None,
) -> list[OrderRow]:
    """Return rows that match a filter, sorted by a column of `SORTS`, behind the value and the id of `after`."""
    if wanted.state is None and wanted.status is not None:
        # Every status belongs to one state, whose indexes find the orders.
        wanted = replace(wanted, state="cancelled" if wanted.status == CANCELLED else "confirmed")
    if wanted.to_dispatch:
        wanted = replace(wanted, state="confirmed")
    has_index = wanted.customer_id or wanted.status or wanted.to_dispatch
    if column == "placed" and wanted.state == "confirmed" and has_index:
        column = "confirmed"
    expression, kind, _ = _SORTS[column]
    conditions = list(conditions_of(wanted))
    values = values_of(wanted) | {"most": most}
    if after is not None:
        sign = SQL("<" if descending else ">")
        conditions.append(_BEHIND.format(column=expression, sign=sign, kind=kind))
        values |= {"after_value": after[0], "after_id": after[1]}
    statement = Statement(
        _PAGE.format(
            customer=CUSTOMER_NAME,
            conditions=SQL(" and ").join(conditions or [_ALL]),
            column=expression,
            outer=_OUTER[column],
            order=SQL("desc" if descending else "asc"),
        ),
        OrderRow,
        prepared=False,
    )
    return await tx.fetch_all(statement, **{name: values[name] for name in statement.names})


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
    prepared=False,
)


async def orders_by_day(tx: Transaction, since: date, until: date) -> list[DayOfOrders]:
    """Return the confirmed orders of each day, days without orders included."""
    return await tx.fetch_all(_BY_DAY, since=since, until=until, statuses=list(STATUSES))
