"""Reads and lists quotes, stores their pricings, and keeps the one-time links to them only as hashes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.pipeline import json_of
from tradecounter.db.sorted_rows import After, SortColumn, SortedTable
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.orders.lines import OrderLine, total_costs
from tradecounter.orders.queries.orders import find_own_order_by_code, order_statement
from tradecounter.orders.queries.today import Waiting
from tradecounter.orders.rules import QUOTE_DECLINED, QUOTE_EXPIRED, QUOTE_ORDERED, QUOTE_PRICED, QUOTE_WAITING
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import AnyOrder, Pricing

_UNPRICED = SQL("kind = 'quote' and state = 'pending' and priced_at is null")
_UNPRICED_QUOTES = order_statement("select {} from orders where {} order by created_at, id limit :most", _UNPRICED)
_ALL_QUOTES = order_statement("select {} from orders where kind = 'quote' order by id desc limit :most")


async def list_quotes(tx: Transaction, most: int, *, waiting: bool) -> list[AnyOrder]:
    """Return the quotes of all customers: unpriced quotes, oldest first, or all quotes, latest first."""
    return await tx.fetch_all(_UNPRICED_QUOTES if waiting else _ALL_QUOTES, most=most)


_COUNT_UNPRICED = Statement(
    SQL("select count(*), min(created_at) as oldest from orders where {}").format(_UNPRICED), Waiting
)


async def quotes_waiting(tx: Transaction) -> Waiting:
    """Return the quotes that wait for a price."""
    return await tx.fetch_row(_COUNT_UNPRICED)


_OWN_QUOTES = order_statement(
    "select {} from orders where customer_id = :customer_id and kind = 'quote'"
    " and (:before::bigint is null or id < :before) order by id desc offset :start limit :most"
)
_COUNT_OWN_QUOTES = Statement("select count(*) from orders where customer_id = :customer_id and kind = 'quote'")
_OPEN_QUOTES = order_statement(
    "select {} from orders where customer_id = :customer_id and kind = 'quote' and state = 'pending'"
    " order by priced_at is null, expires_at, id limit :most"
)


async def own_quotes(
    tx: Transaction, customer_id: int, most: int, before: int | None = None, start: int = 0
) -> list[AnyOrder]:
    """Return a customer's quotes in any state, the latest first, from a position on.

    `before` selects those with lower ids.
    """
    return await tx.fetch_all(_OWN_QUOTES, customer_id=customer_id, before=before, most=most, start=start)


async def count_own_quotes(tx: Transaction, customer_id: int) -> int:
    """Return how many quotes a customer has, in any state."""
    return int(await tx.fetch_value(_COUNT_OWN_QUOTES, customer_id=customer_id))


async def open_quotes(tx: Transaction, customer_id: int, most: int) -> list[AnyOrder]:
    """Return a customer's quotes that are neither ordered nor declined: the priced ones first, by their expiry."""
    return await tx.fetch_all(_OPEN_QUOTES, customer_id=customer_id, most=most)


_QUOTE = order_statement("select {} from orders where kind = 'quote' and confirmation_code = :code")


async def fetch_quote(tx: Transaction, code: str) -> AnyOrder:
    """Return a quote by its confirmation code, in any state. Raises DomainError (not found)."""
    quote = await tx.find_row(_QUOTE, code=code)
    if quote is None:
        raise not_found("quote", code)
    return quote


async def fetch_own_quote(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return a customer's quote in any state by its confirmation code. Raises DomainError (not found)."""
    quote = await find_own_order_by_code(tx, customer_id, code)
    if quote is None or quote.kind != "quote":
        raise not_found("quote", code)
    return quote


QuoteView = Literal["waiting", "priced", "ordered", "declined", "expired", "all"]


class QuoteRow(Struct, frozen=True):
    """A quote in a table; `total` is the gross of its goods at the price that it has."""

    id: int
    code: str
    status: str
    customer_id: int
    customer: str
    customer_reference: str
    lines: int
    total: Decimal
    created_at: datetime
    priced_at: datetime | None
    expires_at: datetime | None
    order_reference: str | None


# As `quote_status` of `orders/states.py` tells them apart; each has a view.
_STATUSES: Mapping[str, SQL] = {
    QUOTE_WAITING: SQL("orders.state = 'pending' and orders.priced_at is null"),
    QUOTE_PRICED: SQL("orders.state = 'pending' and orders.priced_at is not null and orders.expires_at >= :now"),
    QUOTE_ORDERED: SQL("orders.number is not null"),
    QUOTE_DECLINED: SQL("orders.state = 'cancelled' and orders.number is null"),
    QUOTE_EXPIRED: SQL("(orders.state = 'expired' or (orders.state = 'pending' and orders.expires_at < :now))"),
}
_VIEWS: Mapping[str, SQL] = {
    **{status.lower(): condition for status, condition in _STATUSES.items()},
    "all": SQL("true"),
}
_STATUS = SQL(" ").join(
    SQL("when {} then {}").format(condition, Quoted(status)) for status, condition in _STATUSES.items()
)
_ROW = SQL("""
    select orders.id, orders.confirmation_code as code, case {status} end as status, orders.customer_id,
           {name} as customer, orders.customer_reference,
           (select count(*) from order_line l where l.order_id = orders.id and l.bundle_line_id is null) as lines,
           orders.cost_net + orders.cost_tax as total, orders.created_at, orders.priced_at, orders.expires_at,
           orders.order_reference
    from ({page}) as chosen join orders using (id) join customer as c on c.id = orders.customer_id
""")
_QUOTES: SortedTable[QuoteRow] = SortedTable(
    select=SQL("select orders.id from orders"),
    joined=lambda page: _ROW.format(status=_STATUS, name=CUSTOMER_NAME, page=page),
    row=QuoteRow,
    columns={
        "created": SortColumn(SQL("orders.created_at"), SQL("timestamptz"), datetime, lambda row: row.created_at),
        "id": SortColumn(SQL("orders.id"), SQL("bigint"), int, lambda row: row.id),  # as created, by an index
    },
    key=SQL("orders.id"),
    key_of=lambda row: row.id,
)


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
    condition = SQL("orders.kind = 'quote' and {}").format(_VIEWS[view])
    column = "id" if latest_first else "created"
    place: After = (after[1], after[1]) if after is not None and latest_first else after
    return await _QUOTES.page_where(tx, (condition, {"now": now}), column, most, descending=latest_first, after=place)


_PRICE_QUOTE = Statement(
    """
    with lines as (
        update order_line l
        set unit_cost = p.unit_cost, cost_net = p.cost_net, cost_tax = p.cost_tax,
            requested_unit_cost = coalesce(l.requested_unit_cost, l.unit_cost)
        from json_to_recordset(:lines::json)
             as p (id bigint, unit_cost numeric, cost_net numeric, cost_tax numeric)
        where l.id = p.id
    )
    update orders
    set cost_net = :cost_net, cost_tax = :cost_tax, quote_note = :quote_note, priced_at = :priced_at,
        expires_at = :expires_at, shipping_options = :shipping_options, pricings = :pricings
    where id = :id
    """
)


async def store_pricing(
    tx: Transaction, order_id: int, pricing: Pricing, lines: Sequence[OrderLine], options: Sequence[ShippingOption]
) -> None:
    """Store the price of a quote, which the caller has locked, with the costs of all its lines and shipping options."""
    cost_net, cost_tax = total_costs(lines)
    await tx.execute(
        _PRICE_QUOTE,
        id=order_id,
        lines=json_of(lines),
        cost_net=cost_net,
        cost_tax=cost_tax,
        shipping_options=json_of(options),
        **asdict(pricing),
    )


_MARK_EXPIRING = Statement(
    """
    update orders set reminded_pricing = pricings
    where id in (
        select id from orders
        where kind = 'quote' and state = 'pending' and reminded_pricing < pricings
          and expires_at > :now and expires_at <= :now + :before and priced_at < expires_at - :before
        order by id limit :most for no key update skip locked
    )
    returning id, pricings
    """
)


async def mark_expiring_quotes(tx: Transaction, now: datetime, before: timedelta, most: int) -> list[tuple[int, int]]:
    """Return the ids of priced quotes that expire within `before`, with the numbers of their pricings.

    Marks their customers as reminded. Skips quotes that were priced for `before` or less, and quotes that another
    transaction has locked.
    """
    return await tx.fetch_all(_MARK_EXPIRING, now=now, before=before, most=most)


class QuoteLink(Struct, frozen=True):
    """The link to a quote."""

    order_id: int
    id: int
    hash: bytes
    used_at: datetime | None


_PUT_LINK = Statement("""
    insert into quote_link (order_id, id, hash, created_at) values (:order_id, :id, :hash, :now)
    on conflict (order_id) do update
    set id = excluded.id, hash = excluded.hash, created_at = excluded.created_at, used_at = null
""")


async def put_quote_link(tx: Transaction, order_id: int, link_id: int, digest: bytes, now: datetime) -> None:
    """Store a quote's link in place of its earlier one. The caller has locked the quote."""
    await tx.execute(_PUT_LINK, order_id=order_id, id=link_id, hash=digest, now=now)


_DELETE_LINK = Statement("delete from quote_link where order_id = :order_id")


async def delete_quote_link(tx: Transaction, order_id: int) -> None:
    """Delete a quote's link."""
    await tx.execute(_DELETE_LINK, order_id=order_id)


_LINK_OF_QUOTE = Statement("select order_id, id, hash, used_at from quote_link where order_id = :order_id", QuoteLink)
_LINK_BY_HASH = Statement("select order_id, id, hash, used_at from quote_link where hash = :hash", QuoteLink)


async def find_link_of_quote(tx: Transaction, order_id: int) -> QuoteLink | None:
    """Return a quote's link, used or not, or None."""
    return await tx.find_row(_LINK_OF_QUOTE, order_id=order_id)


async def find_quote_link(tx: Transaction, digest: bytes) -> QuoteLink | None:
    """Return the link with a hash, used or not, or None."""
    return await tx.find_row(_LINK_BY_HASH, hash=digest)


_USE_LINK = Statement("update quote_link set used_at = :now where hash = :hash and used_at is null")


async def use_quote_link(tx: Transaction, digest: bytes, now: datetime) -> bool:
    """Mark a link as used; return False when it is used already or was replaced."""
    return await tx.execute(_USE_LINK, hash=digest, now=now) == 1
