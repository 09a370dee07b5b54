"""Orders as resources of the wire (specification, section 2)."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from tradecounter.customers.wire import CustomerAddress
from tradecounter.kit.local_time import local_text
from tradecounter.kit.money import NOTHING, to_pence
from tradecounter.ordering.fulfilled import Fulfilled, Shipped
from tradecounter.ordering.records import LineRecord, OfferedShipping, OrderRecord
from tradecounter.ordering.rules import quote_status
from tradecounter.ordering.still_to_come import expected_dispatch
from tradecounter.ordering.store import NewOrder
from tradecounter.ordering.wire import (
    CreatedOrder,
    CreatedOrderItem,
    CreateOrderShipping,
    CsvOrderItem,
    NotificationDetails,
    Order,
    OrderItem,
    OrderShipping,
    Quote,
)
from tradecounter.rest.csv_text import line as csv_line
from tradecounter.rest.responses import to_json
from tradecounter.storefront.render import product_json
from tradecounter.storefront.view import CustomerView

_CSV_COLUMNS = (
    "id", "order_reference", "customer_reference", "cost_net", "cost_tax", "cost_gross", "created_on", "status",
    "items", "shipping", "shipping_address", "external_customer_id", "expected_dispatch_date",
)  # fmt: skip


def held_order(order: NewOrder, *, auto_confirm: bool | None) -> CreatedOrder:
    """Return an order or a quote as the answer to its creation, as `created_order` would after reading it back."""
    options = {o.id: _shipping_option(o) for o in order.shipping_options}
    return CreatedOrder(
        customer_reference=order.customer_reference,
        items=[
            CreatedOrderItem(line_id, line.sku, line.quantity, line.cost_net)
            for line_id, line in zip(order.line_ids, order.lines, strict=True)
        ],
        billing_address=order.billing_address,
        shipping_address=order.shipping_address,
        shipping_method=None if order.shipping_method is None else options[order.shipping_method],
        shipping_region=order.shipping_region,
        external_customer_id=order.external_customer_id,
        order_notifications=order.order_notifications,
        courier_notifications=order.courier_notifications,
        auto_confirm=auto_confirm,
        confirmation_code=order.confirmation_code,
        shipping_options=list(options.values()),
        shipping_weight=order.shipping_weight,
        cost_net=order.cost_net,
        cost_tax=order.cost_tax,
        cost_gross=order.cost_net + order.cost_tax,
    )


def created_order(order: OrderRecord, lines: Sequence[LineRecord]) -> CreatedOrder:
    """Return an order or a quote as the answer to its confirmation."""
    options = {o.id: _shipping_option(o) for o in order.offers}
    return CreatedOrder(
        customer_reference=order.customer_reference,
        items=[CreatedOrderItem(line.id, line.sku, line.quantity, line.cost_net) for line in lines],
        billing_address=msgspec.convert(order.billing_address, CustomerAddress),
        shipping_address=msgspec.convert(order.shipping_address, CustomerAddress),
        shipping_method=None if order.shipping_method is None else options[order.shipping_method],
        shipping_region=order.shipping_region,
        external_customer_id=order.external_customer_id,
        order_notifications=_notifications(order.order_notifications),
        courier_notifications=_notifications(order.courier_notifications),
        confirmation_code=order.confirmation_code,
        order_id=order.number,
        order_reference=order.order_reference,
        shipping_options=list(options.values()),
        shipping_weight=order.shipping_weight,
        cost_net=order.cost_net,
        cost_tax=order.cost_tax,
        cost_gross=order.cost_net + order.cost_tax,
    )


def quote_on_the_wire(quote: OrderRecord, lines: Sequence[LineRecord], now: datetime) -> Quote:
    """Return a quote in any state; `now` decides whether it has expired."""
    return Quote(
        **msgspec.structs.asdict(created_order(quote, lines)),
        status=quote_status(quote, now),
        expires_on=_local_text(quote.expires_at),
    )


def _shipping_option(offer: OfferedShipping) -> CreateOrderShipping:
    return CreateOrderShipping(
        offer.id,
        offer.provider,
        offer.description,
        offer.cost_net,
        _local_text(offer.dispatch),
        _local_text(offer.arrival),
    )


def _local_text(moment: datetime | None) -> str | None:
    return None if moment is None else local_text(moment)


def _notifications(details: dict[str, str] | None) -> NotificationDetails | None:
    return None if details is None else msgspec.convert(details, NotificationDetails)


def order_on_the_wire(
    order: OrderRecord, lines: Sequence[LineRecord], fulfilled: Fulfilled, view: CustomerView, now: datetime
) -> Order:
    """Return a confirmed order; its products are shown at the customer's prices of today."""
    shown = _without_items(order, lines, fulfilled, now)
    shown.items = [item_on_the_wire(line, fulfilled, view) for line in lines]
    return shown


def _without_items(order: OrderRecord, lines: Sequence[LineRecord], fulfilled: Fulfilled, now: datetime) -> Order:
    if order.number is None or order.order_reference is None or order.confirmed_at is None:
        raise ValueError("only confirmed orders are shown")
    return Order(
        id=order.number,
        order_reference=order.order_reference,
        customer_reference=order.customer_reference,
        cost_net=order.cost_net,
        cost_tax=order.cost_tax,
        cost_gross=order.cost_net + order.cost_tax,
        created_on=local_text(order.confirmed_at),
        status=order.status or "",
        items=[],
        shipping=_shipping(order, fulfilled.shipments),
        shipping_address=msgspec.convert(order.shipping_address, CustomerAddress),
        external_customer_id=order.external_customer_id,
        expected_dispatch_date=_local_text(expected_dispatch(order, lines, now)),
    )


def item_on_the_wire(line: LineRecord, fulfilled: Fulfilled, view: CustomerView) -> OrderItem:
    """Return a line of a confirmed order, with the components of a bundle as its related items."""
    row = view.snapshot.row_of_id[line.product_id]
    # A product that is no longer priced for the customer shows what it was ordered at.
    costs = view.unit_costs(row) or (to_pence(line.unit_cost),) * 3
    return OrderItem(
        id=line.id,
        product=msgspec.Raw(product_json(view, row, costs)),
        quantity=line.quantity,
        cost_net=line.cost_net,
        cost_tax=line.cost_tax,
        related_items=[item_on_the_wire(component, fulfilled, view) for component in line.components],
        configurations=list(fulfilled.configurations.get(line.id, ())),
        serial_numbers=list(fulfilled.serial_numbers.get(line.id, ())),
        quantity_dispatched=line.dispatched,
        quantity_cancelled=line.cancelled,
    )


def _shipping(order: OrderRecord, shipments: Sequence[Shipped]) -> list[OrderShipping]:
    """Return an entry per shipment, or one while there is none; the first bears the order's shipping cost."""
    cost_net, cost_tax = order.shipping_net or NOTHING, order.shipping_tax or NOTHING
    if shipments:
        return [
            _shipment(shipped, *((NOTHING, NOTHING) if number else (cost_net, cost_tax)))
            for number, shipped in enumerate(shipments)
        ]
    contact = _notifications(order.courier_notifications) or NotificationDetails()
    return [
        OrderShipping(
            method_id=order.shipping_method or 0,
            cost_net=cost_net,
            cost_tax=cost_tax,
            tracking_events=[],
            contact_email=contact.email_address,
            contact_phone=contact.phone_number,
        )
    ]


def _shipment(shipped: Shipped, cost_net: Decimal, cost_tax: Decimal) -> OrderShipping:
    return OrderShipping(
        method_id=shipped.shipping_method,
        cost_net=cost_net,
        cost_tax=cost_tax,
        tracking_events=list(shipped.events),
        contact_email=shipped.contact_email,
        contact_phone=shipped.contact_phone,
        tracking_number=shipped.tracking_number,
        last_tracking_status=shipped.events[-1].type if shipped.events else None,
    )


def order_as_json(
    order: OrderRecord, lines: Sequence[LineRecord], fulfilled: Fulfilled, view: CustomerView, now: datetime
) -> bytes:
    """Return a confirmed order as JSON."""
    return to_json(order_on_the_wire(order, lines, fulfilled, view, now))


def order_as_csv(
    order: OrderRecord, lines: Sequence[LineRecord], fulfilled: Fulfilled, view: CustomerView, now: datetime
) -> bytes:
    """Return a confirmed order as a line of CSV."""
    rows = view.snapshot.row_of_id
    items = [
        CsvOrderItem(line.id, view.product(rows[line.product_id]).sku, line.quantity, line.cost_net, line.cost_tax)
        for line in lines
    ]
    return csv_order(_without_items(order, lines, fulfilled, now), items)


def csv_order(order: Order, items: Sequence[CsvOrderItem]) -> bytes:
    """Return a line of CSV for an order with these items; what is nested is JSON text."""
    values = {**{name: getattr(order, name) for name in _CSV_COLUMNS}, "items": items}
    return csv_line(_cell(value) for value in values.values()).encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return to_json(value).decode() if isinstance(value, list | Struct) else str(value)


CSV_HEADER = csv_line(_CSV_COLUMNS).encode()
