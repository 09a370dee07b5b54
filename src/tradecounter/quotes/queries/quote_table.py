"""The quotes of all customers as a table, by what is to be done with them."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.rules import QUOTE_DECLINED, QUOTE_EXPIRED, QUOTE_ORDERED, QUOTE_PRICED, QUOTE_WAITING

QuoteView = Literal["waiting", "priced", "ordered", "declined", "expired", "all"]


class QuoteRow(Struct, frozen=True):
    """A quote in a table; `total` is the gross of its goods at the price that it has."""

    id: int
    code: str
    state: str
    customer_id: int
    customer: str
    customer_reference: str
    lines: int
    total: Decimal
    created_at: datetime
    priced_at: datetime | None
    expires_at: datetime | None
    order_reference: str | None

    def status(self, now: datetime) -> str:
        """Return the quote's status at a moment, as `quote_status` does for a whole quote."""
        if self.order_reference is not None:
            return QUOTE_ORDERED
        if self.state == "cancelled":
            return QUOTE_DECLINED
        if self.priced_at is None:
            return QUOTE_WAITING
        over = self.state == "expired" or (self.expires_at is not None and self.expires_at < now)
        return QUOTE_EXPIRED if over else QUOTE_PRICED


_CONDITIONS: Mapping[QuoteView, SQL] = {
    "waiting": SQL("state = 'pending' and priced_at is null"),
    "priced": SQL("state = 'pending' and priced_at is not null and expires_at >= :now"),
    "ordered": SQL("number is not null"),
    "declined": SQL("state = 'cancelled' and number is null"),
    "expired": SQL("(state = 'expired' or (state = 'pending' and expires_at < :now))"),
    "all": SQL("true"),
}
_PAGE = SQL("""
    select q.id, q.confirmation_code as code, q.state, q.customer_id,
           {name} as customer, q.customer_reference,
           (select count(*) from order_line l where l.order_id = q.id and l.bundle_line_id is null) as lines,
           q.cost_net + q.cost_tax as total, q.created_at, q.priced_at, q.expires_at, q.order_reference
    from (select * from orders where kind = 'quote' and {condition} and {behind} order by {order} limit :most) as q
    join customer as c on c.id = q.customer_id
    order by {outer}
""")
_ALL = SQL("true")
# The order of the rows inside and outside, and the condition of the rows behind a cursor.
_OLDEST_FIRST = (
    SQL("created_at, id"),
    SQL("q.created_at, q.id"),
    SQL("(created_at, id) > (:after_value::timestamptz, :after_id)"),
)
_LATEST_FIRST = (SQL("id desc"), SQL("q.id desc"), SQL("id < :after_id"))


async def quote_table(
    tx: Transaction,
    view: QuoteView,
    now: datetime,
    most: int,
    after: tuple[datetime, int] | None = None,
    *,
    latest_first: bool,
) -> list[QuoteRow]:
    """Return the quotes of a view by their time of creation; `after` is that of the one before, and its id."""
    order, outer, behind = _LATEST_FIRST if latest_first else _OLDEST_FIRST
    statement = Statement(
        _PAGE.format(
            name=CUSTOMER_NAME,
            condition=_CONDITIONS[view],
            behind=_ALL if after is None else behind,
            order=order,
            outer=outer,
        ),
        QuoteRow,
        prepared=False,
    )
    values: dict[str, Any] = {"now": now, "most": most}
    if after is not None:
        values |= {"after_value": after[0], "after_id": after[1]}
    return await tx.fetch_all(statement, **{name: values[name] for name in statement.names})
