"""The SQL of the orders of a sandbox that live on."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class LivingOrder:
    """An order that is not at its end, or a quote that waits for a price; `last_at` is its last event."""

    id: int
    kind: str
    confirmation_code: str
    customer_reference: str
    confirmed_at: datetime | None
    last_at: datetime


_LIVING = Statement(
    """
    select o.id, o.kind, o.confirmation_code, o.customer_reference, o.confirmed_at,
           greatest(
               coalesce(o.confirmed_at, o.created_at),
               (select max(occurred_at) from event where subject = 'order/' || o.id),
               (select max(occurred_at) from unnumbered_event where subject = 'order/' || o.id)
           ) as last_at
    from orders o
    where (o.state = 'confirmed' and o.status <> 'Completed') or
          (o.state = 'pending' and o.kind = 'quote' and o.priced_at is null)
    order by o.id
    """,
    LivingOrder,
)


async def living_orders(tx: Transaction) -> list[LivingOrder]:
    """Return the orders that may have a next step."""
    return await tx.fetch_all(_LIVING)


@dataclass(frozen=True, slots=True)
class Sighted:
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
