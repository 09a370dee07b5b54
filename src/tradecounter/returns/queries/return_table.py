"""The returns of all customers as a table, latest first."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class ReturnRow:
    """A return in a table; `id` is its number without the prefix."""

    id: int
    order_reference: str
    customer_id: int
    customer: str
    state: str
    reason: str
    opened_at: datetime
    units: int
    received: int


_PAGE = Statement(
    """
    select r.id, o.order_reference, o.customer_id,
           coalesce(nullif(c.company, ''), c.first_name || ' ' || c.last_name) as customer, r.state, r.reason,
           r.opened_at, l.units, l.received
    from (
        select * from order_return
        where (:state::text is null or state = :state) and (:after::bigint is null or id < :after)
        order by id desc limit :most
    ) as r
    join orders as o on o.id = r.order_id
    join customer as c on c.id = o.customer_id
    cross join lateral (
        select coalesce(sum(quantity), 0)::integer as units, coalesce(sum(restocked + scrapped), 0)::integer as received
        from return_line where return_id = r.id
    ) as l
    order by r.id desc
    """,
    ReturnRow,
)


async def return_table(tx: Transaction, state: str | None, most: int, after: int | None = None) -> list[ReturnRow]:
    """Return returns in a state, or all; `after` is the id of the last one on the page before."""
    return await tx.fetch_all(_PAGE, state=state, most=most, after=after)
