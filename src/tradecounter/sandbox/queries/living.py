"""The SQL of the orders of a sandbox that live on."""

from datetime import datetime, timedelta

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.sandbox.rules import SLOWER, Wish


class LivingOrder(Struct, frozen=True):
    """An order that is not at its end, or a quote that waits for a price, whose last step is over."""

    id: int
    kind: str
    confirmation_code: str
    customer_reference: str
    confirmed_at: datetime | None


def _asks_for(wish: Wish) -> str:
    """Return the regular expression of a wish, as `wishes_of` reads it."""
    return rf"\ysandbox-{wish}\y"


_LIVING = Statement(
    SQL("""
    select o.id, o.kind, o.confirmation_code, o.customer_reference, o.confirmed_at
    from orders o, lateral (
        select greatest(
            coalesce(o.confirmed_at, o.created_at),
            (select max(dispatched_at) from shipment where order_id = o.id),
            (select max(t.date)::timestamp at time zone 'Europe/London'
             from tracking_event t join shipment s on s.id = t.shipment_id where s.order_id = o.id),
            (select max(issued_at) from invoice where order_id = o.id)
        ) as at
    ) as last
    where o.id > :after
      and ((o.state = 'confirmed' and o.status <> 'Completed'
            and not (o.status = 'Invoiced' and o.customer_reference ~* {unpaid}))
           or (o.state = 'pending' and o.kind = 'quote' and o.priced_at is null))
      and last.at <= :now - :pace * case when o.customer_reference ~* {slow} then {slower} else 1 end
    order by o.id limit :most
    """).format(unpaid=_asks_for("unpaid"), slow=_asks_for("slow"), slower=SLOWER),
    LivingOrder,
)


async def living_orders(tx: Transaction, now: datetime, pace: timedelta, after: int, most: int) -> list[LivingOrder]:
    """Return orders with a next step, by id from the one after `after` on, at most `most`."""
    return await tx.fetch_all(_LIVING, now=now, pace=pace, after=after, most=most)


class Sighted(Struct, frozen=True):
    """A shipment and the type of the courier's last report, if there is one."""

    tracking_number: str | None
    latest: str | None


_SHIPMENTS = Statement(
    """
    select s.tracking_number,
           (select e.type from tracking_event e where e.shipment_id = s.id order by e.id desc limit 1) as latest
    from shipment s where s.order_id = :order_id order by s.id
    """,
    Sighted,
)


async def shipments_of(tx: Transaction, order_id: int) -> list[Sighted]:
    """Return an order's shipments."""
    return await tx.fetch_all(_SHIPMENTS, order_id=order_id)
