"""Stores the pricings of quotes, and which of them their customers were reminded of."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.lines import OrderLine, total_costs
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import Pricing

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
        quote_note=pricing.quote_note,
        priced_at=pricing.priced_at,
        expires_at=pricing.expires_at,
        shipping_options=json_of(options),
        pricings=pricing.pricings,
    )


class ExpiringQuote(Struct, frozen=True):
    """A quote that is about to expire, and the number of its pricings."""

    id: int
    pricings: int


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
    """,
    ExpiringQuote,
)


async def mark_expiring_quotes(tx: Transaction, now: datetime, before: timedelta, most: int) -> list[ExpiringQuote]:
    """Return the priced quotes that expire within `before`, and mark their customers as reminded.

    Skips quotes that were priced for `before` or less, and quotes that another transaction has locked.
    """
    return await tx.fetch_all(_MARK_EXPIRING, now=now, before=before, most=most)
