"""Changes orders. A function that takes one order expects that its caller has locked it; scheduled ones lock rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct

from tradecounter.access.queries.people import lock_user
from tradecounter.db.pipeline import Pipeline, Result, json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING
from tradecounter.orders.lines import OrderLine, flat_lines
from tradecounter.orders.queries.orders import HAS_EXPIRED, order_statement
from tradecounter.orders.rules import CANCELLED, COMPLETED, INVOICED
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, OrderBase

_NEXT_NUMBER = Statement("select nextval('order_number')")


def pipe_next_number(p: Pipeline) -> Result[tuple[int, ...]]:
    """Fetch the number of the next order reference. A confirmation that fails leaves a gap."""
    return p.fetch(_NEXT_NUMBER)


_CONFIRM = Statement(
    """
    update orders
    set state = 'confirmed', number = :number, order_reference = :order_reference,
        shipping_method = :shipping_method, shipping_options = :shipping_options, shipping_net = :shipping_net,
        shipping_tax = :shipping_tax, status = :status, term_days = :term_days, confirmed_at = :confirmed_at
    where id = :id
    """
)


def store_confirmation(tx: Transaction, order: ConfirmedOrder) -> None:
    """Store the confirmation of a pending order or a quote."""
    tx.queue(_CONFIRM, **_values(_CONFIRM, order))


def _values(statement: Statement[Any], order: ConfirmedOrder) -> dict[str, Any]:
    """Return the values of a statement whose parameters are fields of an order; nested ones are JSON."""
    values = {name: getattr(order, name) for name in statement.names}
    return {name: json_of(value) if isinstance(value, Struct | list) else value for name, value in values.items()}


_SET_IN_BASKET = Statement("update orders set in_basket_of = :user_id where id = :order_id")


def set_in_basket(tx: Transaction, order_id: int, user_id: int | None) -> None:
    """Note whose basket has the lines of an order; None: nobody's."""
    tx.queue(_SET_IN_BASKET, order_id=order_id, user_id=user_id)


_TAKE_OUT = Statement(
    """
    with ordered as (
        select product_id, sum(quantity) as quantity from order_line
        where order_id = :order_id and bundle_line_id is null group by product_id
    ), emptied as (
        delete from basket_line b using ordered o
        where b.user_id = :user_id and b.product_id = o.product_id and b.quantity <= o.quantity
    )
    update basket_line b set quantity = b.quantity - o.quantity from ordered o
    where b.user_id = :user_id and b.product_id = o.product_id and b.quantity > o.quantity
    """
)


def take_out_of_basket(tx: Transaction, order: OrderBase) -> None:
    """Take the units of an order, which the caller has locked, out of the basket that still has them.

    What was put in besides stays. Others who change the basket wait.
    """
    if order.in_basket_of is not None:
        lock_user(tx, order.in_basket_of)
        tx.queue(_TAKE_OUT, order_id=order.id, user_id=order.in_basket_of)
        set_in_basket(tx, order.id, None)


_SET_ALLOCATIONS = Statement(
    """
    update order_line l set allocated = a.allocated, back_ordered = l.quantity - a.allocated
    from unnest(:ids::bigint[], :allocated::integer[]) as a (id, allocated)
    where l.id = a.id
    """
)


def store_allocations(tx: Transaction, allocated: Mapping[int, int]) -> None:
    """Set the allocated units of lines (by id); the rest of each line is back-ordered."""
    tx.queue(_SET_ALLOCATIONS, ids=list(allocated), allocated=list(allocated.values()))


_DISPATCH_LINES = Statement(
    """
    update order_line l set allocated = l.allocated - u.units, dispatched = l.dispatched + u.units
    from unnest(:ids::bigint[], :units::integer[]) as u (id, units)
    where l.id = u.id
    """
)
_SET_STATUS = Statement("update orders set status = :status where id = :id")


async def store_dispatch(tx: Transaction, order_id: int, units: Mapping[int, int], status: str) -> None:
    """Mark allocated units of lines (by id) as dispatched, and set the order's status.

    Negative units are dispatched ones that are allocated again.
    """
    await tx.execute(_DISPATCH_LINES, ids=list(units), units=list(units.values()))
    await tx.execute(_SET_STATUS, id=order_id, status=status)


_CANCEL = Statement(
    "update orders set state = 'cancelled', status = :status, cancel_reason = :reason, cancelled_at = :now"
    " where id = :id"
)
_CANCEL_LINES = Statement(
    "update order_line set allocated = 0, back_ordered = 0, cancelled = cancelled + quantity where order_id = :id"
)


async def store_cancellation(tx: Transaction, order_id: int, reason: str, now: datetime) -> None:
    """Mark an order as cancelled, and clear the allocations and back-orders of its lines."""
    await tx.execute(_CANCEL, id=order_id, status=CANCELLED, reason=reason, now=now)
    await tx.execute(_CANCEL_LINES, id=order_id)


_STORE_LINES = Statement(
    """
    update order_line l
    set quantity = c.quantity, unit_cost = c.unit_cost, cost_net = c.cost_net, cost_tax = c.cost_tax,
        cancelled = c.cancelled, unbilled = c.unbilled,
        allocated = case when l.bundle_line_id is null then c.allocated else 0 end,
        back_ordered = case when l.bundle_line_id is null then c.back_ordered else 0 end
    from json_to_recordset(:lines::json)
         as c (id bigint, quantity integer, unit_cost numeric, cost_net numeric, cost_tax numeric, cancelled integer,
               unbilled integer, allocated integer, back_ordered integer)
    where l.id = c.id
    """
)
_STORE_ORDER = Statement(
    """
    update orders
    set customer_reference = :customer_reference, shipping_address = :shipping_address,
        shipping_region = :shipping_region, shipping_options = :shipping_options, shipping_method = :shipping_method,
        shipping_weight = :shipping_weight, shipping_net = :shipping_net, shipping_tax = :shipping_tax,
        cost_net = :cost_net, cost_tax = :cost_tax, tax_rate = :tax_rate, status = :status
    where id = :id
    """
)


async def store_lines(tx: Transaction, lines: Sequence[OrderLine]) -> None:
    """Store the units and costs of lines and their components."""
    await tx.execute(_STORE_LINES, lines=json_of(list(flat_lines(lines))))


async def store_changed_order(tx: Transaction, order: ConfirmedOrder) -> None:
    """Store what a part cancellation, an amendment or a return changes of a confirmed order, except its lines."""
    await tx.execute(_STORE_ORDER, **_values(_STORE_ORDER, order))


_DELETE_LINES = Statement(
    """
    with gone as materialized (
        select id from order_line where id = any(:ids::bigint[]) or bundle_line_id = any(:ids::bigint[])
    ), their_configurations as (
        delete from configuration where line_id in (select id from gone)
    )
    delete from order_line where id in (select id from gone)
    """
)


async def delete_lines(tx: Transaction, line_ids: Iterable[int]) -> None:
    """Delete lines whose units were never cancelled or dispatched, with their components and configurations."""
    await tx.execute(_DELETE_LINES, ids=list(line_ids))


_INSERT_CHANGE = Statement(
    """
    insert into order_change (order_id, kind, reason, units, changed_at)
    values (:order_id, :kind, :reason, :units, :now) returning id
    """
)


async def insert_change(
    tx: Transaction,
    order_id: int,
    kind: Literal["cancelled", "amended"],
    reason: str,
    units: Mapping[int, int],
    now: datetime,
) -> int:
    """Store that a confirmed order was changed, with the cancelled units by line id; return the change's id."""
    return int(
        await tx.fetch_value(_INSERT_CHANGE, order_id=order_id, kind=kind, reason=reason, units=json_of(units), now=now)
    )


class OrderChange(Struct, frozen=True):
    """A part cancellation, with its units, or an amendment of a confirmed order."""

    kind: Literal["cancelled", "amended"]
    reason: str
    units: int
    changed_at: datetime


_CHANGES = Statement(
    """
    select kind, reason, (select coalesce(sum(value::integer), 0)::integer from jsonb_each_text(c.units)) as units,
           changed_at
    from order_change c where order_id = :order_id order by id
    """,
    OrderChange,
)


async def changes_of_order(tx: Transaction, order_id: int) -> list[OrderChange]:
    """Return the part cancellations and amendments of an order, the oldest first."""
    return await tx.fetch_all(_CHANGES, order_id=order_id)


_EXPIRE = order_statement(
    """
    update orders set state = 'expired' where id in (
        select id from orders where state = 'pending' and {1}
        order by id limit :most for no key update skip locked
    )
    returning {0}
    """,
    HAS_EXPIRED,
)


async def mark_expired(tx: Transaction, now: datetime, most: int) -> list[AnyOrder]:
    """Mark pending orders and priced quotes that have expired, and return them.

    Skips those that another transaction has locked.
    """
    return sorted(await tx.fetch_all(_EXPIRE, now=now, most=most), key=lambda order: order.id)


_DELETE_EXPIRED = Statement(
    """
    with gone as materialized (
        select id from orders where state = 'expired' and number is null and expires_at < :before
        order by expires_at limit :most for update skip locked
    ), their_lines as (
        delete from order_line where order_id in (select id from gone)
    )
    delete from orders where id in (select id from gone)
    """
)


async def delete_expired_orders(tx: Transaction, before: datetime, most: int) -> int:
    """Delete orders and quotes that expired before a moment, with their lines, oldest first; return their number.

    Skips rows that another transaction has locked.
    """
    return await tx.execute(_DELETE_EXPIRED, before=before, most=most)


_SETTLE = Statement(
    """
    update orders
    set paid = paid + :paid, credited = credited + :credited,
        status = case when coalesce(:status, status) not in (:unpaid, :completed) then coalesce(:status, status)
                      when gross = paid + :paid + credited + :credited then :completed
                      else :unpaid end
    where id = :id
    """
)


def settle(
    tx: Transaction, order_id: int, *, paid: Decimal = NOTHING, credited: Decimal = NOTHING, status: str | None = None
) -> None:
    """Add to what is paid and credited of an order, which gets a new status if an invoice has just been issued.

    Of a wholly invoiced order, the status becomes completed if nothing is due, and invoiced otherwise.
    """
    tx.queue(_SETTLE, id=order_id, paid=paid, credited=credited, status=status, unpaid=INVOICED, completed=COMPLETED)
