"""Writing orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.round_trip import Nothing, Statement, array, json_of
from tradecounter.db.rows import execute, fetch_all, fetch_value
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.records import Confirmation, Kind, OfferedShipping
from tradecounter.ordering.rules import CANCELLED, PricedLine, total_net, total_tax
from tradecounter.ordering.wire import NotificationDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOrder:
    """A priced order that is about to be held as pending; the ids are those that it and its lines will have."""

    id: int
    line_ids: Sequence[int]
    customer_id: int
    kind: Kind
    confirmation_code: str
    customer_reference: str
    external_customer_id: str | None
    billing_address: CustomerAddress
    shipping_address: CustomerAddress
    order_notifications: NotificationDetails | None
    courier_notifications: NotificationDetails | None
    shipping_region: int
    shipping_options: Sequence[OfferedShipping]
    shipping_method: int | None
    shipping_weight: Decimal
    cost_net: Decimal
    cost_tax: Decimal
    tax_rate: Decimal
    created_at: datetime
    expires_at: datetime | None
    lines: Sequence[PricedLine]


_INSERT_ORDER = Statement(
    """
    with held as (
        insert into orders (id, customer_id, kind, state, confirmation_code, customer_reference, external_customer_id,
                            billing_address, shipping_address, order_notifications, courier_notifications,
                            shipping_region, shipping_options, shipping_method, shipping_weight, cost_net, cost_tax,
                            tax_rate, created_at, expires_at)
        overriding system value
        values ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
    )
    insert into order_line (id, order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax)
    overriding system value
    select l.id, $1, l.position, l.product_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.cost_tax
    from json_to_recordset($20::json)
         as l (id bigint, position integer, product_id bigint, sku text, name text, quantity integer,
               unit_cost numeric, cost_net numeric, cost_tax numeric)
    """,
    Nothing,
)

_INSERT_COMPONENTS = Statement(
    """
    insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax,
                            bundle_line_id)
    select $1, c.position, c.product_id, c.sku, c.name, c.quantity, 0, 0, 0, c.bundle
    from json_to_recordset($2::json)
         as c (position integer, bundle bigint, product_id bigint, sku text, name text, quantity integer)
    order by c.position
    """,
    Nothing,
)


def insert_order(tx: Transaction, order: NewOrder) -> None:
    """Hold an order and its lines as pending."""
    tx.leave(
        _INSERT_ORDER(
            order.id,
            order.customer_id,
            order.kind,
            order.confirmation_code,
            order.customer_reference,
            order.external_customer_id,
            json_of(order.billing_address),
            json_of(order.shipping_address),
            json_of(order.order_notifications),
            json_of(order.courier_notifications),
            order.shipping_region,
            json_of(order.shipping_options),
            order.shipping_method,
            order.shipping_weight,
            order.cost_net,
            order.cost_tax,
            order.tax_rate,
            order.created_at,
            order.expires_at,
            json_of(_lines(order)),
        )
    )
    components = _components(order)
    if components:
        tx.leave(_INSERT_COMPONENTS(order.id, json_of(components)))


def _lines(order: NewOrder) -> list[dict[str, Any]]:
    return [
        {
            "id": line_id,
            "position": position,
            "product_id": line.product_id,
            "sku": line.sku,
            "name": line.name,
            "quantity": line.quantity,
            "unit_cost": line.unit_cost,
            "cost_net": line.cost_net,
            "cost_tax": line.cost_tax,
        }
        for position, (line_id, line) in enumerate(zip(order.line_ids, order.lines, strict=True), start=1)
    ]


def _components(order: NewOrder) -> list[dict[str, Any]]:
    """Return components with the ids of their bundles' lines; their positions follow those of all lines."""
    held = [(bundle, c) for bundle, line in zip(order.line_ids, order.lines, strict=True) for c in line.components]
    return [
        {
            "position": position,
            "bundle": bundle,
            "product_id": component.product_id,
            "sku": component.sku,
            "name": component.name,
            "quantity": component.quantity,
        }
        for position, (bundle, component) in enumerate(held, start=len(order.lines) + 1)
    ]


@dataclass(frozen=True, slots=True)
class OrderNumber:
    """An order id of the wire."""

    number: int


# Numbers of attempts that fail are lost.
next_order_number = Statement("select nextval('order_number') as number", OrderNumber)

_CONFIRM = Statement(
    """
    update orders
    set state = 'confirmed', number = $1, order_reference = $2, shipping_method = $3, shipping_options = $4,
        shipping_net = $5, shipping_tax = $6, status = $7, term_days = $8, confirmed_at = $9
    where id = $10
    """,
    Nothing,
)

_SET_ALLOCATIONS = Statement(
    """
    update order_line l set allocated = a.allocated, back_ordered = l.quantity - a.allocated
    from unnest($1::bigint[], $2::integer[]) as a (id, allocated)
    where l.id = a.id
    """,
    Nothing,
)


def confirm_order_row(tx: Transaction, order_id: int, confirmation: Confirmation) -> None:
    """Turn a pending order, which the caller has locked, into a confirmed one."""
    tx.leave(
        _CONFIRM(
            confirmation.number,
            confirmation.order_reference,
            confirmation.shipping_method,
            json_of(confirmation.shipping_options),
            confirmation.shipping_net,
            confirmation.shipping_tax,
            confirmation.status,
            confirmation.term_days,
            confirmation.confirmed_at,
            order_id,
        )
    )


def set_allocations(tx: Transaction, allocated: Mapping[int, int]) -> None:
    """Note on lines (by id) how many units were allocated; the rest of each is a back-order."""
    tx.leave(_SET_ALLOCATIONS(array(allocated), array(allocated.values())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """What support settles of a quote: all its lines by their ids, its shipping options, until when, and a note."""

    lines: Mapping[int, PricedLine]
    shipping_options: Sequence[OfferedShipping]
    note: str | None
    priced_at: datetime
    expires_at: datetime


async def price_quote_row(tx: Transaction, order_id: int, pricing: Pricing) -> int:
    """Give a quote, which the caller has locked, its price; return how many times it has been priced."""
    lines = list(pricing.lines.values())
    pricings: int = await fetch_value(
        tx,
        """
        with lines as (
            update order_line l set unit_cost = p.unit_cost, cost_net = p.cost_net, cost_tax = p.cost_tax
            from unnest(%(ids)s::bigint[], %(unit_costs)s::numeric[], %(line_nets)s::numeric[],
                        %(line_taxes)s::numeric[]) as p (id, unit_cost, cost_net, cost_tax)
            where l.id = p.id
        )
        update orders
        set cost_net = %(cost_net)s, cost_tax = %(cost_tax)s, quote_note = %(note)s, priced_at = %(priced_at)s,
            expires_at = %(expires_at)s, shipping_options = %(shipping_options)s, pricings = pricings + 1
        where id = %(id)s
        returning pricings
        """,
        {
            "unit_costs": [line.unit_cost for line in lines],
            "line_nets": [line.cost_net for line in lines],
            "line_taxes": [line.cost_tax for line in lines],
            "ids": list(pricing.lines),
            "cost_net": total_net(lines),
            "cost_tax": total_tax(lines),
            "note": pricing.note,
            "shipping_options": json_of(pricing.shipping_options),
            "priced_at": pricing.priced_at,
            "expires_at": pricing.expires_at,
            "id": order_id,
        },
    )
    return pricings


async def note_dispatch(tx: Transaction, order_id: int, units: Mapping[int, int], status: str) -> None:
    """Note on the lines of an order, which the caller has locked, the allocated units (by line id) that left."""
    await execute(
        tx,
        """
        update order_line l set allocated = l.allocated - u.units, dispatched = l.dispatched + u.units
        from unnest(%s::bigint[], %s::integer[]) as u (id, units)
        where l.id = u.id
        """,
        [list(units), list(units.values())],
    )
    await execute(tx, "update orders set status = %s where id = %s", [status, order_id])


async def cancel_order_row(tx: Transaction, order_id: int, reason: str, now: datetime) -> None:
    """Mark an order, which the caller has locked, as cancelled; its lines hold and await nothing any more."""
    await execute(
        tx,
        "update orders set state = 'cancelled', status = %s, cancel_reason = %s, cancelled_at = %s where id = %s",
        [CANCELLED, reason, now, order_id],
    )
    await execute(
        tx,
        "update order_line set allocated = 0, back_ordered = 0 where order_id = %s and allocated + back_ordered > 0",
        [order_id],
    )


async def expire_orders(tx: Transaction, now: datetime) -> int:
    """Mark pending orders and quotes whose time is over; return how many. A quote without a price has no such time."""
    return await execute(tx, "update orders set state = 'expired' where state = 'pending' and expires_at < %s", [now])


@dataclass(frozen=True, slots=True)
class ExpiringQuote:
    """A quote that is about to expire, and how many times it has been priced."""

    id: int
    pricings: int


async def mark_expiring_quotes(tx: Transaction, now: datetime, before: timedelta, most: int) -> list[ExpiringQuote]:
    """Mark the priced quotes that expire within `before` as reminded of, and return them.

    Those whose price was given for no longer than that are left out, and those that another transaction holds.
    """
    return await fetch_all(
        tx,
        ExpiringQuote,
        """
        update orders set reminded_pricing = pricings
        where id in (
            select id from orders
            where kind = 'quote' and state = 'pending' and reminded_pricing < pricings
              and expires_at > %(now)s and expires_at <= %(now)s + %(before)s and priced_at < expires_at - %(before)s
            order by id limit %(most)s for no key update skip locked
        )
        returning id, pricings
        """,
        {"now": now, "before": before, "most": most},
    )


async def delete_expired_orders(tx: Transaction, before: datetime, most: int) -> int:
    """Delete orders and quotes that expired before a moment, with their lines, the oldest first; return how many.

    What another transaction is looking at under a lock is left for the next time.
    """
    return await execute(
        tx,
        """
        with gone as materialized (
            select id from orders where state = 'expired' and number is null and expires_at < %s
            order by expires_at limit %s for update skip locked
        ), their_lines as (
            delete from order_line where order_id in (select id from gone)
        )
        delete from orders where id in (select id from gone)
        """,
        [before, most],
    )


async def record_paid(tx: Transaction, order_id: int, amount: Decimal, status: str) -> None:
    """Add a payment, which may be nothing, to what is paid of an order that the caller has locked; set its status."""
    await execute(tx, "update orders set paid = paid + %s, status = %s where id = %s", [amount, status, order_id])
