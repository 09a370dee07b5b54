"""Finds and locks orders, and reads their lines. Functions that take a customer return only its own orders."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal
from typing import LiteralString

from msgspec import Struct
from psycopg.sql import SQL, Composable

from tradecounter.db.pipeline import Pipeline, Result
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.text import fold
from tradecounter.orders.lines import OrderLine, with_components
from tradecounter.orders.states import (
    AnyOrder,
    CancelledOrder,
    CancelledUnconfirmed,
    ConfirmedOrder,
    NumberedOrder,
    OrderKind,
    PendingOrder,
    parse_order,
)

_COLUMNS = SQL(
    "id, customer_id, kind, state, confirmation_code, number, order_reference, customer_reference,"
    " external_customer_id, billing_address, shipping_address, order_notifications, courier_notifications,"
    " shipping_region, shipping_options, shipping_method, shipping_weight, shipping_net, shipping_tax, cost_net,"
    " cost_tax, tax_rate, paid, credited, status, term_days, created_at, expires_at, confirmed_at, priced_at, pricings,"
    " quote_note, cancelled_at, cancel_reason, expected_changed_at,"
    " changed_at, allow_back_orders, in_basket_of"
)

# `has_expired` of `orders/states.py` for rows whose state is pending; null without an expiry.
HAS_EXPIRED = SQL("expires_at < :now::timestamptz")

# The ids of the orders that `:order_reference` names: a reference in any case, or the number in it.
NAMED_ORDERS = SQL(
    "(select id from orders where number = nullif(substring(:order_reference from '[0-9]{1,18}$'), '')::bigint"
    " and (lower(order_reference) = lower(:order_reference) or number::text = :order_reference))"
)

# The ids of the confirmed orders of a customer with a reference, or with a text in the customer's own. An index has
# both, and from a pattern, the planner sees that a long text is rare.
REFERRED_TO = SQL(r"""
    (select id from orders where customer_id = :customer_id and state = 'confirmed' and (
        order_reference = upper(:reference)
        or lower(customer_reference) like '%' || regexp_replace(lower(:reference), '([\\%_])', '\\\1', 'g') || '%'))
""")


def order_statement(sql: LiteralString, *parts: Composable) -> Statement[AnyOrder]:
    """Return a statement that reads orders. The columns replace the first `{}` of the SQL, `parts` the others."""
    return Statement(SQL(sql).format(_COLUMNS, *parts), parse_order)


_CODE = re.compile("[0-9a-f]{32}", re.ASCII | re.IGNORECASE)
_DIGITS_AT_END = re.compile(r"(?<![0-9])[0-9]{1,18}$", re.ASCII)

_OWN = order_statement(
    "select {} from orders where customer_id = :customer_id and number is not null"
    " and (order_reference = :reference or number = :number or id = :number)"
)


async def fetch_own_order(tx: Transaction, customer_id: int, reference: str) -> ConfirmedOrder | CancelledOrder:
    """Return a customer's confirmed or cancelled order by its id or its reference, ignoring case and outer white space.

    Raises DomainError (not found).
    """
    order = await find_own_order(tx, customer_id, reference)
    if order is None:
        raise not_found("order", reference)
    return order


async def fetch_readable_order(
    tx: Transaction, customer_id: int, name: str
) -> NumberedOrder | PendingOrder | CancelledUnconfirmed:
    """Return a customer's order in any state, or a confirmed quote, by its id, reference or confirmation code.

    Raises DomainError (not found), also for an open quote.
    """
    name = name.strip()
    if _CODE.fullmatch(name):
        async with tx.pipeline() as p:
            result = pipe_by_code(p, customer_id, name.lower())
        match result.first:
            case NumberedOrder() as order:
                return order
            case PendingOrder() | CancelledUnconfirmed() as order if order.kind == "order":
                return order
    return await fetch_own_order(tx, customer_id, name)


async def find_own_order(tx: Transaction, customer_id: int, reference: str) -> ConfirmedOrder | CancelledOrder | None:
    """Return the order as `fetch_own_order` does, or None."""
    reference = reference.strip()
    # The number at the end of a reference finds the order in any spelling. A number alone may be an order id.
    digits = _DIGITS_AT_END.search(reference)
    number = int(digits[0]) if digits else None
    async with tx.pipeline() as p:
        result = p.fetch(_OWN, customer_id=customer_id, reference=reference, number=number)
    wanted, numbered = fold(reference), (order for order in result.rows if isinstance(order, NumberedOrder))
    return next((o for o in numbered if wanted in {fold(o.order_reference), str(o.id)}), None)


_BY_CODE = order_statement("select {} from orders where customer_id = :customer_id and confirmation_code = :code")

_LOCK_UNCONFIRMED = Statement(
    "select from orders where customer_id = :customer_id and confirmation_code = :code and number is null for update"
)


def pipe_lock_unconfirmed(p: Pipeline, customer_id: int, code: str) -> None:
    """Lock a customer's unconfirmed order or quote until the transaction ends.

    Later statements, also of the same pipeline, see the locked order.
    """
    p.execute(_LOCK_UNCONFIRMED, customer_id=customer_id, code=code)


def pipe_by_code(p: Pipeline, customer_id: int, code: str) -> Result[AnyOrder]:
    """Fetch a customer's order or quote by its confirmation code."""
    return p.fetch(_BY_CODE, customer_id=customer_id, code=code)


async def find_own_order_by_code(tx: Transaction, customer_id: int, code: str) -> AnyOrder | None:
    """Return a customer's order or quote in any state by its confirmation code, or None."""
    async with tx.pipeline() as p:
        order = pipe_by_code(p, customer_id, code.lower())
    return order.first


async def fetch_own_order_by_code(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return what `find_own_order_by_code` does. Raises DomainError (not found)."""
    order = await find_own_order_by_code(tx, customer_id, code)
    if order is None:
        raise not_found("order", code)
    return order


async def fetch_own_order_by_name(tx: Transaction, customer_id: int, name: str) -> AnyOrder:
    """Return a customer's order or quote in any state by its id, its reference or its confirmation code.

    Raises DomainError (not found).
    """
    name = name.strip()
    if "\x00" in name:
        raise not_found("order", name)
    numbered = await find_own_order(tx, customer_id, name)
    return numbered or await fetch_own_order_by_code(tx, customer_id, name)


async def lock_unconfirmed(tx: Transaction, customer_id: int, code: str, kind: OrderKind | None = None) -> AnyOrder:
    """Return what `fetch_own_order_by_code` does; unless it is confirmed, it is locked until the transaction ends.

    With a `kind`, only what was created as one. Raises DomainError (not found).
    """
    async with tx.pipeline() as p:
        pipe_lock_unconfirmed(p, customer_id, code.lower())
        order = pipe_by_code(p, customer_id, code.lower())
    if order.first is None or kind not in {None, order.first.kind}:
        raise not_found(kind or "order", code)
    return order.first


_LOCK_BY_CODE = order_statement("select {} from orders where confirmation_code = :code for update")


async def lock_by_code(tx: Transaction, code: str) -> AnyOrder | None:
    """Return any customer's order or quote by its confirmation code, locked until the transaction ends."""
    return await tx.find_row(_LOCK_BY_CODE, code=code)


_BY_ID = order_statement("select {} from orders where id = :id")


async def find_order_by_id(tx: Transaction, order_id: int) -> AnyOrder | None:
    """Return any customer's order or quote by its internal id."""
    return await tx.find_row(_BY_ID, id=order_id)


_LOCK_BY_ID = order_statement("select {} from orders where id = :id for no key update")


async def lock_order(tx: Transaction, order_id: int) -> AnyOrder:
    """Return an order by its internal id, locked until the transaction ends. Raises LookupError."""
    return await tx.fetch_row(_LOCK_BY_ID, id=order_id)


_LOCK_ALL = Statement("select from orders where id = any(:ids::bigint[]) order by id for no key update")


async def lock_orders(tx: Transaction, order_ids: Collection[int]) -> None:
    """Lock orders by their internal ids until the transaction ends, in the order of the ids."""
    await tx.execute(_LOCK_ALL, ids=sorted(order_ids))


_LOCK_CUSTOMER = Statement("select from customer where id = :customer_id for no key update")

_WITH_REFERENCE = order_statement(
    """
    select {} from orders
    where customer_id = :customer_id and id is distinct from :but::bigint
      and reference_key(customer_reference) = reference_key(:customer_reference)
      and (state = 'confirmed' or (state = 'pending' and ({}) is not true))
    order by id limit 1
    """,
    HAS_EXPIRED,
)


async def lock_customer_and_find_reference(
    tx: Transaction, customer_id: int, customer_reference: str, now: datetime, but: int | None
) -> AnyOrder | None:
    """Return a confirmed or confirmable order with this customer reference, except the order with the id `but`.

    Locks the customer's row, so two orders cannot pass this check at the same time.
    """
    async with tx.pipeline() as p:
        p.execute(_LOCK_CUSTOMER, customer_id=customer_id)
        result = p.fetch(
            _WITH_REFERENCE, customer_id=customer_id, customer_reference=customer_reference, now=now, but=but
        )
    return result.first


_LINE = SQL(
    "l.id, l.order_id, l.product_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.cost_tax, l.allocated,"
    " l.back_ordered, l.dispatched, l.cancelled, l.returned, l.unbilled,"
    " l.requested_unit_cost, l.bundle_line_id"
)

_LINES = Statement(
    SQL(
        "select {} from order_line l where l.order_id = any(:order_ids::bigint[]) order by l.order_id, l.position"
    ).format(_LINE),
    OrderLine,
)

_LINES_BY_CODE = Statement(
    SQL(
        "select {} from order_line l join orders o on o.id = l.order_id"
        " where o.customer_id = :customer_id and o.confirmation_code = :code order by l.position"
    ).format(_LINE),
    OrderLine,
)


def pipe_lines_by_code(p: Pipeline, customer_id: int, code: str) -> Result[OrderLine]:
    """Fetch the lines of a customer's order or quote; `with_components` nests components."""
    return p.fetch(_LINES_BY_CODE, customer_id=customer_id, code=code)


async def lines_of(tx: Transaction, order_ids: Sequence[int]) -> dict[int, list[OrderLine]]:
    """Return the lines of orders by internal id, sorted by position; bundles contain their components."""
    async with tx.pipeline() as p:
        result = p.fetch(_LINES, order_ids=list(order_ids))
    lines: dict[int, list[OrderLine]] = {order_id: [] for order_id in order_ids}
    for line in with_components(result.rows):
        lines[line.order_id].append(line)
    return lines


async def lines_of_order(tx: Transaction, order_id: int) -> list[OrderLine]:
    """Return the lines of one order, as `lines_of` does."""
    return (await lines_of(tx, [order_id]))[order_id]


_INVOICED_UNITS = Statement(
    "select l.line_id, sum(l.quantity)::integer from invoice_line l join invoice_balance b using (invoice)"
    " where b.order_id = any(:order_ids::bigint[]) group by l.line_id"
)


async def invoiced_units(tx: Transaction, order_ids: Sequence[int]) -> dict[int | None, int]:
    """Return the units of orders that are on their invoices, by line id; the invoiced shipping has None."""
    return dict(await tx.fetch_all(_INVOICED_UNITS, order_ids=list(order_ids)))


class LastPurchase(Struct, frozen=True):
    """When a customer last bought a product: the order, how many units, and their net unit cost."""

    order_reference: str
    confirmed_at: datetime
    quantity: int
    unit_cost: Decimal


# Only the latest orders: a product may be in any number of a customer's orders, or in none of them.
_LAST_BOUGHT = Statement(
    """
    select o.order_reference, o.confirmed_at, l.quantity, l.unit_cost
    from (
        select id, order_reference, confirmed_at, number from orders
        where customer_id = :customer_id and state = 'confirmed'
        order by confirmed_at desc, number desc limit 1000
    ) o
    join order_line l
      on l.order_id = o.id and l.product_id = :product_id and l.bundle_line_id is null and l.quantity > 0
    order by o.confirmed_at desc, o.number desc limit 1
    """,
    LastPurchase,
)


async def find_last_bought(tx: Transaction, customer_id: int, product_id: int) -> LastPurchase | None:
    """Return when a customer last bought a product, within its latest 1,000 orders."""
    return await tx.find_row(_LAST_BOUGHT, customer_id=customer_id, product_id=product_id)
