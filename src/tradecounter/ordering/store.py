"""Writing orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from psycopg.types.json import Jsonb

from tradecounter.db.rows import execute, fetch_value
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.records import Kind, OfferedShipping
from tradecounter.ordering.rules import CANCELLED, PricedLine, total_net, total_tax


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOrder:
    """A priced order that is about to be held as pending."""

    customer_id: int
    kind: Kind
    confirmation_code: str
    customer_reference: str
    external_customer_id: str | None
    billing_address: msgspec.Struct
    shipping_address: msgspec.Struct
    order_notifications: msgspec.Struct | None
    courier_notifications: msgspec.Struct | None
    shipping_region: int
    shipping_options: list[OfferedShipping]
    shipping_method: int | None
    shipping_weight: Decimal
    tax_rate: Decimal
    created_at: datetime
    expires_at: datetime | None
    lines: Sequence[PricedLine]


async def insert_order(tx: Transaction, order: NewOrder) -> int:
    """Hold an order and its lines as pending, in one statement; return its internal id."""
    order_id: int = await fetch_value(
        tx,
        """
        with held as (
            insert into orders (customer_id, kind, state, confirmation_code, customer_reference,
                                external_customer_id, billing_address, shipping_address, order_notifications,
                                courier_notifications, shipping_region, shipping_options, shipping_method,
                                shipping_weight, cost_net, cost_tax, tax_rate, created_at, expires_at)
            values (%(customer_id)s, %(kind)s, 'pending', %(confirmation_code)s, %(customer_reference)s,
                    %(external_customer_id)s, %(billing_address)s, %(shipping_address)s, %(order_notifications)s,
                    %(courier_notifications)s, %(shipping_region)s, %(shipping_options)s, %(shipping_method)s,
                    %(shipping_weight)s, %(cost_net)s, %(cost_tax)s, %(tax_rate)s, %(created_at)s, %(expires_at)s)
            returning id
        ), lines as (
            insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net,
                                    cost_tax)
            select held.id, l.position, l.product_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.cost_tax
            from held, unnest(%(product_ids)s::bigint[], %(skus)s::text[], %(names)s::text[],
                              %(quantities)s::integer[], %(unit_costs)s::numeric[], %(line_nets)s::numeric[],
                              %(line_taxes)s::numeric[])
                 with ordinality
                 as l (product_id, sku, name, quantity, unit_cost, cost_net, cost_tax, position)
            order by l.position
            returning id, position
        ), components as (
            insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net,
                                    cost_tax, bundle_line_id)
            select held.id, c.position, c.product_id, c.sku, c.name, c.quantity, 0, 0, 0, lines.id
            from held, unnest(%(component_positions)s::integer[], %(component_bundles)s::integer[],
                              %(component_products)s::bigint[], %(component_skus)s::text[],
                              %(component_names)s::text[], %(component_quantities)s::integer[])
                 as c (position, bundle, product_id, sku, name, quantity)
                 join lines on lines.position = c.bundle
            order by c.position
        )
        select id from held
        """,
        {**_columns(order), **_line_arrays(order.lines), **_component_arrays(order.lines)},
    )
    return order_id


def _columns(order: NewOrder) -> dict[str, Any]:
    return {
        "customer_id": order.customer_id,
        "kind": order.kind,
        "confirmation_code": order.confirmation_code,
        "customer_reference": order.customer_reference,
        "external_customer_id": order.external_customer_id,
        "billing_address": _json(order.billing_address),
        "shipping_address": _json(order.shipping_address),
        "order_notifications": _json(order.order_notifications),
        "courier_notifications": _json(order.courier_notifications),
        "shipping_region": order.shipping_region,
        "shipping_options": _json(order.shipping_options),
        "shipping_method": order.shipping_method,
        "shipping_weight": order.shipping_weight,
        "cost_net": total_net(order.lines),
        "cost_tax": total_tax(order.lines),
        "tax_rate": order.tax_rate,
        "created_at": order.created_at,
        "expires_at": order.expires_at,
    }


def _line_arrays(lines: Sequence[PricedLine]) -> dict[str, Any]:
    return {
        "product_ids": [line.product_id for line in lines],
        "skus": [line.sku for line in lines],
        "names": [line.name for line in lines],
        "quantities": [line.quantity for line in lines],
        "unit_costs": [line.unit_cost for line in lines],
        "line_nets": [line.cost_net for line in lines],
        "line_taxes": [line.cost_tax for line in lines],
    }


def _component_arrays(lines: Sequence[PricedLine]) -> dict[str, Any]:
    """Return components with the positions of their bundles; their own positions follow those of all lines."""
    held = [(bundle, c) for bundle, line in enumerate(lines, start=1) for c in line.components]
    return {
        "component_positions": [len(lines) + number for number in range(1, len(held) + 1)],
        "component_bundles": [bundle for bundle, _ in held],
        "component_products": [c.product_id for _, c in held],
        "component_skus": [c.sku for _, c in held],
        "component_names": [c.name for _, c in held],
        "component_quantities": [c.quantity for _, c in held],
    }


def _json(value: Any) -> Jsonb | None:
    return None if value is None else Jsonb(msgspec.to_builtins(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What confirming an order settles."""

    number: int
    order_reference: str
    shipping_method: int
    shipping_options: list[OfferedShipping]
    shipping_net: Decimal
    shipping_tax: Decimal
    status: str
    term_days: int
    confirmed_at: datetime


async def next_order_number(tx: Transaction) -> int:
    """Return the next order id; numbers of attempts that fail are lost."""
    number: int = await fetch_value(tx, "select nextval('order_number')")
    return number


async def confirm_order_row(tx: Transaction, order_id: int, confirmation: Confirmation) -> None:
    """Turn a pending order, which the caller has locked, into a confirmed one."""
    await execute(
        tx,
        """
        update orders
        set state = 'confirmed', number = %s, order_reference = %s, shipping_method = %s, shipping_options = %s,
            shipping_net = %s, shipping_tax = %s, status = %s, term_days = %s, confirmed_at = %s
        where id = %s
        """,
        [
            confirmation.number,
            confirmation.order_reference,
            confirmation.shipping_method,
            _json(confirmation.shipping_options),
            confirmation.shipping_net,
            confirmation.shipping_tax,
            confirmation.status,
            confirmation.term_days,
            confirmation.confirmed_at,
            order_id,
        ],
    )


async def set_allocations(tx: Transaction, allocated: dict[int, int]) -> None:
    """Note on lines (by id) how many units were allocated; the rest of each is a back-order."""
    await execute(
        tx,
        """
        update order_line l set allocated = a.allocated, back_ordered = l.quantity - a.allocated
        from unnest(%s::bigint[], %s::integer[]) as a (id, allocated)
        where l.id = a.id
        """,
        [list(allocated), list(allocated.values())],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """What support settles of a quote: all its lines by their ids, until when it holds, and a note to the customer."""

    lines: Mapping[int, PricedLine]
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
            expires_at = %(expires_at)s, pricings = pricings + 1
        where id = %(id)s
        returning pricings
        """,
        {
            **_line_arrays(lines),
            "ids": list(pricing.lines),
            "cost_net": total_net(lines),
            "cost_tax": total_tax(lines),
            "note": pricing.note,
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


async def record_paid(tx: Transaction, order_id: int, amount: Decimal, status: str) -> None:
    """Add a payment, which may be nothing, to what is paid of an order that the caller has locked; set its status."""
    await execute(tx, "update orders set paid = paid + %s, status = %s where id = %s", [amount, status, order_id])
