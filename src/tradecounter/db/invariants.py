"""Checks of invariants between tables; each check returns the first violations.

The statements read whole tables: they take seconds on a database with millions of order lines.
"""

from decimal import Decimal

from msgspec import Struct
from psycopg.sql import SQL, Identifier, Literal

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

MOST_FOUND = 5


class WrongCredit(Struct, frozen=True):
    """A customer whose exposure differs from the unpaid total of its confirmed orders."""

    customer_id: int
    charged: Decimal
    unpaid: Decimal


_WRONG_CREDIT = Statement(
    """
    select customer_id, coalesce(e.outstanding, 0) as charged, coalesce(o.unpaid, 0) as unpaid
    from credit_exposure e full join (
        select customer_id, sum(gross - paid - credited) as unpaid from orders
        where state = 'confirmed' and paid + credited < gross group by customer_id
    ) as o using (customer_id)
    where coalesce(e.outstanding, 0) <> coalesce(o.unpaid, 0) order by customer_id limit :most
    """,
    WrongCredit,
)


async def wrong_credit(tx: Transaction) -> list[WrongCredit]:
    """Return the first customers whose exposure differs from their orders' unpaid total."""
    return await tx.fetch_all(_WRONG_CREDIT, most=MOST_FOUND)


class WrongStock(Struct, frozen=True):
    """A product whose stock level differs from its order lines, or is negative; in units."""

    sku: str
    available: int
    allocated: int
    on_lines_allocated: int
    back_ordered: int
    on_lines_back_ordered: int


_WRONG_STOCK = Statement(
    """
    select p.sku, coalesce(s.available, 0) as available,
           coalesce(s.allocated, 0) as allocated, coalesce(l.allocated, 0) as on_lines_allocated,
           coalesce(s.back_ordered, 0) as back_ordered, coalesce(l.back_ordered, 0) as on_lines_back_ordered
    from stock_level s full join (
        select product_id, sum(allocated) as allocated, sum(back_ordered) as back_ordered from order_line
        where allocated <> 0 or back_ordered <> 0 group by product_id
    ) as l using (product_id) join product p on p.id = product_id
    where (coalesce(s.allocated, 0), coalesce(s.back_ordered, 0))
          <> (coalesce(l.allocated, 0), coalesce(l.back_ordered, 0))
       or least(s.available, s.allocated, s.back_ordered) < 0
    order by p.sku_key limit :most
    """,
    WrongStock,
)


async def wrong_stock(tx: Transaction) -> list[WrongStock]:
    """Return the first products whose stock level differs from their order lines' total, or is negative."""
    return await tx.fetch_all(_WRONG_STOCK, most=MOST_FOUND)


class MissingNumbers(Struct, frozen=True):
    """A range of assigned numbers without a document, except those that a restore is known to have lost."""

    first: int
    last: int


_MISSING = SQL(
    """
    select number + 1 as first, next - 1 as last from (
        select number, lead(number, 1, (select last + 1 from {counter})) over (order by number) as next
        from {documents}
    ) as documents
    where next <> number + 1 and not exists (
        select from (
            select type, customer_id, data from event where type = 'log.restored'
            union all
            select type, customer_id, data from unnumbered_event
        ) as told
        where type = 'log.restored' and customer_id is null
          and (data -> {lost} ->> 0)::bigint = number + 1
          and (data -> {lost} ->> 1)::bigint = next - 1
    )
    order by number limit :most
    """
)
_MISSING_INVOICES = Statement(
    _MISSING.format(
        counter=Identifier("invoice_number"), documents=Identifier("invoice"), lost=Literal("lost_invoices")
    ),
    MissingNumbers,
)
_MISSING_CREDIT_NOTES = Statement(
    _MISSING.format(
        counter=Identifier("credit_note_number"), documents=Identifier("credit_note"), lost=Literal("lost_credit_notes")
    ),
    MissingNumbers,
)


async def missing_invoices(tx: Transaction) -> list[MissingNumbers]:
    """Return the first gaps in the invoice numbers, up to the last assigned number."""
    return await tx.fetch_all(_MISSING_INVOICES, most=MOST_FOUND)


async def missing_credit_notes(tx: Transaction) -> list[MissingNumbers]:
    """Return the first gaps in the numbers of credit notes, up to the last assigned number."""
    return await tx.fetch_all(_MISSING_CREDIT_NOTES, most=MOST_FOUND)
