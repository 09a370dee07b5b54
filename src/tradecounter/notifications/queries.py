"""Reading what mails tell."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from tradecounter.db.rows import fetch_all, fetch_one
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.records import OfferedShipping


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFacts:
    """An order or a quote and whose it is. Amounts are pounds; `cost_net` and `cost_tax` are without shipping."""

    id: int
    confirmation_code: str
    number: int | None
    order_reference: str | None
    customer_reference: str
    external_customer_id: str | None
    billing_address: dict[str, Any]
    shipping_address: dict[str, Any]
    order_notifications: dict[str, str] | None
    courier_notifications: dict[str, str] | None
    shipping_region: int
    shipping_options: list[dict[str, Any]]
    shipping_method: int | None
    shipping_weight: Decimal
    shipping_net: Decimal | None
    shipping_tax: Decimal | None
    cost_net: Decimal
    cost_tax: Decimal
    gross: Decimal
    created_at: datetime
    expires_at: datetime | None
    confirmed_at: datetime | None
    priced_at: datetime | None
    pricings: int
    quote_note: str | None
    customer_id: int
    email_address: str
    first_name: str
    last_name: str
    company: str
    accounts_email: str | None

    @property
    def offers(self) -> list[OfferedShipping]:
        """The shipping methods that were offered."""
        return msgspec.convert(self.shipping_options, list[OfferedShipping])

    @property
    def chosen(self) -> OfferedShipping | None:
        """The shipping method that was chosen."""
        return next((offer for offer in self.offers if offer.id == self.shipping_method), None)

    @property
    def contact(self) -> str | None:
        """The e-mail address that is told what happens to the order."""
        return (self.order_notifications or {}).get("email_address")


async def order_facts(tx: Transaction, order_id: int) -> OrderFacts | None:
    """Return an order or a quote by its internal id."""
    return await fetch_one(
        tx,
        OrderFacts,
        """
        select o.id, confirmation_code, number, order_reference, customer_reference, external_customer_id,
               billing_address, shipping_address, order_notifications, courier_notifications, shipping_region,
               shipping_options, o.shipping_method, shipping_weight, shipping_net, shipping_tax, cost_net, cost_tax,
               gross, o.created_at, expires_at, confirmed_at, priced_at, pricings, quote_note,
               customer_id, email_address, first_name, last_name, company, accounts_email
        from orders o join customer c on c.id = o.customer_id where o.id = %s
        """,
        [order_id],
    )


@dataclass(frozen=True, slots=True)
class LineFacts:
    """A priced line, and what of its product can be sold now."""

    sku: str
    name: str
    quantity: int
    unit_cost: Decimal
    cost_net: Decimal
    available: int


async def line_facts(tx: Transaction, order_id: int) -> list[LineFacts]:
    """Return an order's lines but for the components of bundles, which have no price."""
    return await fetch_all(
        tx,
        LineFacts,
        """
        select sku, name, quantity, unit_cost, cost_net, coalesce(available, 0) as available
        from order_line left join stock_level using (product_id)
        where order_id = %s and bundle_line_id is null order by position
        """,
        [order_id],
    )


@dataclass(frozen=True, slots=True)
class ShipmentFacts:
    """What left together."""

    id: int
    shipping_method: int
    tracking_number: str | None
    dispatched_at: datetime


async def shipment_facts(tx: Transaction, order_id: int, shipment_id: int) -> ShipmentFacts | None:
    """Return a shipment of an order."""
    return await fetch_one(
        tx,
        ShipmentFacts,
        "select id, shipping_method, tracking_number, dispatched_at from shipment where order_id = %s and id = %s",
        [order_id, shipment_id],
    )


@dataclass(frozen=True, slots=True)
class Unit:
    """A dispatched unit that is known by its numbers."""

    line_id: int
    serial_number: str
    mac_address: str
    provisioning_sku: str


@dataclass(frozen=True, slots=True)
class DispatchedLine:
    """How much of a line left with a shipment, and how much was still to come after it."""

    id: int
    sku: str
    name: str
    dispatched: int
    remaining: int
    component: bool


async def dispatched_lines(tx: Transaction, order_id: int, shipment_id: int) -> list[DispatchedLine]:
    """Return an order's lines as they stood when a shipment left."""
    return await fetch_all(
        tx,
        DispatchedLine,
        """
        select l.id, l.sku, l.name,
               coalesce(sum(s.quantity) filter (where s.shipment_id = %(shipment)s), 0)::integer as dispatched,
               (l.quantity - coalesce(sum(s.quantity), 0))::integer as remaining,
               l.bundle_line_id is not null as component
        from order_line l left join shipment_line s on s.line_id = l.id and s.shipment_id <= %(shipment)s
        where l.order_id = %(order)s group by l.id order by l.position
        """,
        {"order": order_id, "shipment": shipment_id},
    )


async def units_of(tx: Transaction, shipment_id: int) -> dict[int, list[Unit]]:
    """Return a shipment's units with numbers, by line."""
    units: defaultdict[int, list[Unit]] = defaultdict(list)
    for unit in await fetch_all(
        tx,
        Unit,
        "select line_id, serial_number, mac_address, provisioning_sku from serial_number"
        " where shipment_id = %s order by id",
        [shipment_id],
    ):
        units[unit.line_id].append(unit)
    return units


@dataclass(frozen=True, slots=True)
class InvoiceFacts:
    """An invoice."""

    number: int
    issued_at: datetime
    due_at: datetime
    gross: Decimal
    pdf: bytes


async def invoice_facts(tx: Transaction, order_id: int) -> InvoiceFacts | None:
    """Return an order's invoice."""
    return await fetch_one(
        tx,
        InvoiceFacts,
        "select number, issued_at, due_at, gross, pdf from invoice where order_id = %s",
        [order_id],
    )
