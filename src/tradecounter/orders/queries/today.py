"""What waits, for the start pages: orders and adjusted stock for staff, orders and quotes of one customer."""

from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL, Composed, Identifier, Literal

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.queries.all_orders import TO_DISPATCH
from tradecounter.orders.queries.orders import order_statement
from tradecounter.orders.rules import AWAITING_DISPATCH, BACK_ORDERED, CAN_LEAVE, PART_DISPATCHED, PART_INVOICED
from tradecounter.orders.states import ConfirmedOrder

MOST_COUNTED = 1_000


class Waiting(Struct, frozen=True):
    """How many records wait, and since when the oldest does."""

    count: int
    oldest: datetime | None


# The oldest orders of each status come from an index: with thousands that wait, a person need not know how many.
_OLDEST = SQL("""
    unnest(:statuses::text[]) as wanted (status) cross join lateral (
        select {columns} from orders where {condition} and status = wanted.status order by confirmed_at limit :most
    ) as o
""")

_ORDERS = Statement(
    SQL("select wanted.status, count(*), min(confirmed_at) from {} group by wanted.status").format(
        _OLDEST.format(columns=SQL("confirmed_at"), condition=SQL("state = 'confirmed'"))
    )
)


async def orders_waiting(tx: Transaction, statuses: list[str]) -> dict[str, Waiting]:
    """Return the confirmed orders in each status, up to MOST_COUNTED; a status without orders is missing."""
    rows = await tx.fetch_all(_ORDERS, statuses=statuses, most=MOST_COUNTED)
    return {status: Waiting(count, oldest) for status, count, oldest in rows}


def _counted(number: int, status: str) -> Composed:
    """Return the query of a status's oldest orders: as many as remain to be counted, and at least one."""
    earlier = SQL("").join(SQL(" - (select count(*) from {})").format(Identifier(f"s{n}")) for n in range(number))
    return SQL(
        "{name} as materialized (select confirmed_at from orders where {condition} and status = {status}"
        " order by confirmed_at limit greatest(:most{earlier}, 1))"
    ).format(name=Identifier(f"s{number}"), condition=TO_DISPATCH, status=Literal(status), earlier=earlier)


# Orders in the later statuses may have nothing to dispatch. Finding that out reads their lines, so each is read once.
_COUNT_TO_DISPATCH = Statement(
    SQL("with {} select least(count(*), :most)::bigint as count, min(confirmed_at) as oldest from ({}) as o").format(
        SQL(", ").join(_counted(number, status) for number, status in enumerate(CAN_LEAVE)),
        SQL(" union all ").join(SQL("select * from {}").format(Identifier(f"s{n}")) for n in range(len(CAN_LEAVE))),
    ),
    Waiting,
)


async def count_to_dispatch(tx: Transaction) -> Waiting:
    """Return how many orders can be dispatched now, at least in part, up to MOST_COUNTED."""
    return await tx.fetch_row(_COUNT_TO_DISPATCH, most=MOST_COUNTED)


_TO_PICK = order_statement(
    "select {} from orders where id in (select id from {}) order by confirmed_at limit :most",
    _OLDEST.format(columns=SQL("id"), condition=TO_DISPATCH),
)


async def orders_to_pick(tx: Transaction, most: int) -> list[ConfirmedOrder]:
    """Return the oldest orders that can be dispatched now, at least in part."""
    rows = await tx.fetch_all(_TO_PICK, statuses=list(CAN_LEAVE), most=most)
    return [order for order in rows if isinstance(order, ConfirmedOrder)]


class Adjusted(Struct, frozen=True):
    """Of how many products the stock was adjusted, and when last."""

    count: int
    latest: datetime | None


# An entry has the units of each product by its SKU, besides places.
_ADJUSTED = Statement(
    "select count(distinct units.key), max(at) as latest from audit_entry, jsonb_each(before) as units"
    " where at >= :since and action = 'stock.adjust' and jsonb_typeof(units.value) = 'number'",
    Adjusted,
)


async def stock_adjusted(tx: Transaction, since: datetime) -> Adjusted:
    """Return the adjustments of stock since a moment."""
    return await tx.fetch_row(_ADJUSTED, since=since)


class AccountSummary(Struct, frozen=True):
    """Orders that are not dispatched yet, those of them with back-orders, pending orders, and priced quotes.

    Each is counted up to `MOST_COUNTED`.
    """

    to_dispatch: int
    back_ordered: int
    pending: int
    quotes_priced: int


_SUMMARY = Statement(
    """
    select o.to_dispatch, o.back_ordered, p.pending, p.quotes_priced
    from (
        select count(*) as to_dispatch, count(*) filter (where status = :back_ordered) as back_ordered
        from (
            select status from orders where customer_id = :customer_id and state = 'confirmed'
              and (status = any(:open::text[]) or (status = :part_invoiced and exists (
                  select from order_line l where l.order_id = orders.id and l.allocated + l.back_ordered > 0
              ))) limit :most
        ) as open
    ) as o, (
        select count(*) filter (where kind = 'order' and expires_at >= :now) as pending,
               count(*) filter (where kind = 'quote' and priced_at is not null and expires_at >= :now) as quotes_priced
        from (
            select kind, priced_at, expires_at from orders
            where customer_id = :customer_id and state = 'pending' limit :most
        ) as open
    ) as p
    """,
    AccountSummary,
)


async def account_summary(tx: Transaction, customer_id: int, now: datetime) -> AccountSummary:
    """Return the counts of a customer's open orders and priced quotes."""
    open_statuses = [AWAITING_DISPATCH, BACK_ORDERED, PART_DISPATCHED]
    values = {"customer_id": customer_id, "now": now, "most": MOST_COUNTED, "part_invoiced": PART_INVOICED}
    return await tx.fetch_row(_SUMMARY, **values, open=open_statuses, back_ordered=BACK_ORDERED)
