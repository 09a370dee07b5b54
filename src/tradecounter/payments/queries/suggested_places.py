"""Whose money a line of a bank file may be: by amounts that are due, by earlier payers, by names."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_MOST_BY_AMOUNT, _MOST_BY_NAME = 20, 5


class Payer(Struct, frozen=True):
    """A customer whose money a line may be.

    `times` is how often money with the same payer's name went there, `last_on` when it was received last. `is_named` is
    whether the line has the customer's name.
    """

    customer_id: int
    customer: str
    times: int
    last_on: date | None
    is_named: bool

    @property
    def is_known(self) -> bool:
        """Whether the payer, not only the amount, leads to the customer."""
        return self.times > 0 or self.is_named


_PAYERS = Statement(
    """
    with line as (select usual, lower(reference) as reference from bank_line where id = :line_id),
    open as materialized (
        select customer_id, due, sum(due) over (partition by customer_id order by due_at, invoice) as so_far
        from invoice_balance where due > 0
    ),
    fitting as (select distinct customer_id from open where :amount in (due, so_far) order by 1 limit :most_by_amount),
    earlier as (
        select p.customer_id, count(*) as times, max(l.received_on) as last_on
        from line join bank_line l on l.usual = line.usual and l.state = 'placed' join payment p on p.id = l.payment_id
        where line.usual <> '' group by 1 order by 2 desc, 1 limit :most_by_name
    ),
    named as (
        select c.id as customer_id
        from (select distinct customer_id from open) o join customer c on c.id = o.customer_id, line
        where length(c.company) > 3 and position(lower(c.company) in line.reference) > 0
        order by length(c.company) desc, 1 limit :most_by_name
    )
    select c.id as customer_id, coalesce(nullif(c.company, ''), c.first_name || ' ' || c.last_name) as customer,
           coalesce(e.times, 0)::integer as times, e.last_on, n.customer_id is not null as is_named
    from (select customer_id from fitting union select customer_id from earlier union select customer_id from named) s
    join customer c on c.id = s.customer_id
    left join earlier e on e.customer_id = c.id left join named n on n.customer_id = c.id
    """,
    Payer,
)


async def customers_to_suggest(tx: Transaction, line_id: int, amount: Decimal) -> list[Payer]:
    """Return whose money a line may be: who owes the amount, who paid with its payer's name, who is named in it.

    One invoice has the amount due, or the oldest ones come to it.
    """
    return await tx.fetch_all(
        _PAYERS, line_id=line_id, amount=amount, most_by_amount=_MOST_BY_AMOUNT, most_by_name=_MOST_BY_NAME
    )


class DueOf(Struct, frozen=True):
    """What is due of an invoice of a customer."""

    customer_id: int
    invoice: int
    due: Decimal


_DUE = Statement(
    "select customer_id, invoice, due from invoice_balance where customer_id = any(:customer_ids) and due > 0"
    " order by customer_id, due_at, invoice",
    DueOf,
)


async def due_of_customers(tx: Transaction, customer_ids: Sequence[int]) -> dict[int, list[DueOf]]:
    """Return the invoices of customers that are not fully paid, by customer, the oldest due date first."""
    due: dict[int, list[DueOf]] = {}
    for found in await tx.fetch_all(_DUE, customer_ids=list(customer_ids)):
        due.setdefault(found.customer_id, []).append(found)
    return due
