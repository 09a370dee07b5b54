"""Customers who may have paid a line of a bank file: by due amounts, earlier payers, names and invoice numbers."""

from collections.abc import Sequence
from datetime import date

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_MOST_BY_AMOUNT, _MOST_BY_NAME = 20, 5  # customers of one line
_MOST_COUNTED = 100  # of all customers' smallest due amounts, to learn how many invoices an amount can pay at most
_SHORTEST = 4  # letters of a company's name that a line can name
_LETTERS_ENOUGH = 12  # that a line must have of a company's name if a bank has cut the name


class Payer(Struct, frozen=True):
    """A customer who may have paid a line.

    Attributes:
        times: how often money with the line's payer name went to the customer.
        last_on: when such money was received last.
        is_named: whether the line has the customer's name.
        is_begun: whether the line, or its payer's name, ends within the customer's name.
        is_numbered: whether the line has the number of a due invoice of the customer.
        is_numbered_paid: whether the line has the number of a paid invoice of the customer.
    """

    line_id: int
    customer_id: int
    customer: str
    times: int
    last_on: date | None
    is_named: bool
    is_begun: bool
    is_numbered: bool
    is_numbered_paid: bool

    @property
    def is_known(self) -> bool:
        """Whether the payer points to the customer, not only the amount."""
        return self.times > 0 or self.is_named or self.is_numbered

    @property
    def is_hinted(self) -> bool:
        """Whether anything in the line points to the customer, even if it may point to others too."""
        return self.is_known or self.is_begun or self.is_numbered_paid


# The oldest invoices of a customer come to at least as much as the same number of the smallest ones of all: that bounds
# how many of each customer need a running sum, which takes most of the time. Names begin with a part of a text of their
# first letters, so a join finds them; comparing each name with each text takes longer.
# Banks cut long names: a text that ends within a company's name begins it. `payer_text` is the payer's name, which a
# line has first and whose numbers are no invoices'; without a payer's name it is the whole text.
_PAYERS = Statement(
    SQL("""
    with line as materialized (
        select id, usual as payer_text, lower(reference) as reference, amount,
               case when starts_with(lower(reference), usual || ' ') then substr(reference, length(usual) + 1)
                    else reference end as numbers
        from bank_line
        where id = any(:line_ids) and amount > 0 and received_on is not null
    ),
    smallest as (
        select sum(due) over (order by due, invoice rows unbounded preceding) as least
        from (select due, invoice from invoice_balance where due > 0 order by due, invoice limit :most_counted) as b
    ),
    fitting as (
        select line.id, b.customer_id from line join invoice_balance b on b.due = line.amount and b.due > 0
        union
        select line.id, o.customer_id from line join (
            select customer_id, row_number() over oldest_first as n, sum(due) over oldest_first as so_far
            from invoice_balance where due > 0
            window oldest_first as (partition by customer_id order by due_at, invoice rows unbounded preceding)
        ) o on o.so_far = line.amount
        where o.n <= (select case when count(*) < :most_counted then count(*) else 9223372036854775807 end
                      from smallest where least <= (select max(amount) from line))
    ),
    earlier as (
        select line.id, known.customer_id, known.times, known.last_on
        from line join (
            select l.usual, p.customer_id, count(*) as times, max(l.received_on) as last_on
            from (select distinct payer_text from line where payer_text <> '') as payer
            join bank_line l on l.usual = payer.payer_text and l.state = 'placed' join payment p on p.id = l.payment_id
            group by 1, 2
        ) as known on known.usual = line.payer_text
    ),
    company as materialized (
        select id, lower(company) as name, left(lower(company), :letters_enough) as beginning
        from customer where length(company) >= :shortest
    ),
    named as (
        select line.id, c.id as customer_id, bool_or(position(c.name in text) > 0) as is_whole,
               max(case when position(c.name in text) > 0 then length(c.name) else length(tail) end) as letters
        from (
            select distinct line.id, substr(reference, first, letters) as part
            from line, generate_series(:shortest::integer, :letters_enough::integer) as letters,
                 lateral generate_series(1, length(reference) - letters + 1) as first
        ) p
        join company c on c.beginning = p.part
        join line on line.id = p.id
        cross join lateral (
            select text, substr(text, nullif(position(c.beginning in text), 0)) as tail
            from unnest(array[line.reference, line.payer_text]) as text
        ) t
        where (position(c.name in text) > 0 or starts_with(c.name, tail))
          and exists (select from invoice_balance b where b.customer_id = c.id and b.due > 0)
        group by 1, 2
    ),
    numbered as (
        select line.id, b.customer_id, bool_or(b.due > 0) as is_due
        from line cross join lateral regexp_matches(line.numbers, '(?<![0-9])[0-9]{{1,18}}(?![0-9])', 'g') as number
        join invoice_balance b on b.invoice = number[1]::bigint group by 1, 2
    ),
    likely as (
        select id, customer_id, row_number() over (partition by id order by customer_id) > :most_by_amount as is_beyond
        from fitting
        union select id, customer_id,
                     row_number() over (partition by id order by times desc, customer_id) > :most_by_name from earlier
        union select id, customer_id,
                     row_number() over (partition by id order by is_whole desc, letters desc, customer_id)
                     > :most_by_name from named
        union select id, customer_id,
                     row_number() over (partition by id order by is_due desc, customer_id) > :most_by_name from numbered
    )
    select s.id as line_id, c.id as customer_id,
           {customer} as customer,
           coalesce(e.times, 0)::integer as times, e.last_on,
           coalesce(n.is_whole, false) as is_named, coalesce(not n.is_whole, false) as is_begun,
           coalesce(i.is_due, false) as is_numbered, coalesce(not i.is_due, false) as is_numbered_paid
    from (select distinct id, customer_id from likely where not is_beyond) s join customer c on c.id = s.customer_id
    left join earlier e on e.id = s.id and e.customer_id = c.id
    left join named n on n.id = s.id and n.customer_id = c.id
    left join numbered i on i.id = s.id and i.customer_id = c.id
    """).format(customer=CUSTOMER_NAME),
    Payer,
)


async def customers_to_suggest(tx: Transaction, line_ids: Sequence[int]) -> list[Payer]:
    """Return who may have paid lines: who owes the amount, has paid under the payer's name, or is named in the line.

    A customer owes the amount if one invoice has it due, or the oldest invoices together. Lines with an unreadable
    amount or day have no customers.
    """
    return await tx.fetch_all(
        _PAYERS,
        line_ids=list(line_ids),
        most_counted=_MOST_COUNTED,
        shortest=_SHORTEST,
        letters_enough=_LETTERS_ENOUGH,
        most_by_amount=_MOST_BY_AMOUNT,
        most_by_name=_MOST_BY_NAME,
    )
