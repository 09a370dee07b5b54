"""Finds dispatched units by their serial numbers."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class DispatchedUnit:
    """A unit that was dispatched."""

    serial_number: str
    mac_address: str
    sku: str
    order_reference: str
    customer: str
    dispatched_at: datetime


_FIND = Statement(
    """
    select s.serial_number, s.mac_address, l.sku, o.order_reference,
           coalesce(nullif(c.company, ''), c.first_name || ' ' || c.last_name) as customer, h.dispatched_at
    from serial_number s join order_line l on l.id = s.line_id join orders o on o.id = l.order_id
    join customer c on c.id = o.customer_id join shipment h on h.id = s.shipment_id
    where lower(s.serial_number) = lower(:text) or s.mac_address <> '' and lower(s.mac_address) = lower(:text)
    order by h.dispatched_at desc limit :most
    """,
    DispatchedUnit,
)


async def find_units(tx: Transaction, text: str, most: int) -> list[DispatchedUnit]:
    """Return units by serial number or MAC address, ignoring case, the last dispatched first."""
    return await tx.fetch_all(_FIND, text=text, most=most)
