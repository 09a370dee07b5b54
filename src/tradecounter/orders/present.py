"""Converts orders to the resources of the API (specification, section 2)."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from tradecounter.kit.clock import local_text, uk_date
from tradecounter.kit.csv_text import line as csv_line
from tradecounter.kit.json_text import to_json
from tradecounter.kit.money import NOTHING, to_pence
from tradecounter.kit.wire import made_from
from tradecounter.orders.fulfilled import Fulfilled, Shipped, carrier_of
from tradecounter.orders.lines import OrderLine, flat_units
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import AnyOrder, CancelledUnconfirmed, NumberedOrder, PendingOrder, shown_state
from tradecounter.orders.wire import (
    CreatedOrder,
    CreatedOrderItem,
    CreateOrderShipping,
    CsvOrderItem,
    NotificationDetails,
    Order,
    OrderItem,
    OrderShipping,
    PendingOrderReadBack,
    ShippedUnits,
)
from tradecounter.shipping.rules import shipping_dates
from tradecounter.stock.rules import FROM_STOCK
from tradecounter.storefront.render import product_json
from tradecounter.storefront.view import CustomerView

_CSV_COLUMNS = (
    "id", "order_reference", "customer_reference", "cost_net", "cost_tax", "cost_gross", "created_on", "status",
    "items", "shipping", "shipping_address", "external_customer_id", "expected_dispatch_date", "changed_on",
)  # fmt: skip


def created_order(order: AnyOrder, lines: Sequence[OrderLine], *, auto_confirm: bool | None = None) -> CreatedOrder:
    """Return the response to the creation or the confirmation of an order or a quote."""
    numbered = order if isinstance(order, NumberedOrder) else None
    options = {option.id: _shipping_option(order, option) for option in order.shipping_options}
    return made_from(
        order,
        CreatedOrder,
        items=[CreatedOrderItem(line.id, line.sku, line.quantity, line.cost_net) for line in lines],
        shipping_method=None if order.shipping_method is None else options[order.shipping_method],
        auto_confirm=auto_confirm,
        allow_back_orders=None if order.allow_back_orders else False,
        order_id=None if numbered is None else order.id,
        order_reference=None if numbered is None else numbered.order_reference,
        shipping_options=list(options.values()),
    )


def pending_order(
    order: PendingOrder | CancelledUnconfirmed, lines: Sequence[OrderLine], now: datetime
) -> PendingOrderReadBack:
    """Return the response for an unconfirmed order: that of its creation, and until when it can be confirmed."""
    return made_from(
        created_order(order, lines),
        PendingOrderReadBack,
        status=shown_state(order, now).capitalize(),
        expires_on=local_text(order.expires_at) if isinstance(order, PendingOrder) else None,
    )


def _shipping_option(order: AnyOrder, option: ShippingOption) -> CreateOrderShipping:
    return CreateOrderShipping(
        id=option.id,
        provider=option.provider,
        description=option.description,
        cost_net=option.cost_net,
        expected_dispatch_date=_local_text(option.dispatch),
        expected_arrival_date=_local_text(option.arrival),
        total_gross=order.gross_with(option),
    )


def _local_text(moment: datetime | None) -> str | None:
    return None if moment is None else local_text(moment)


def order_on_the_wire(
    order: NumberedOrder, lines: Sequence[OrderLine], fulfilled: Fulfilled, view: CustomerView, now: datetime
) -> Order:
    """Return the response for an order, with its products at the customer's current prices."""
    items = [item_on_the_wire(line, fulfilled, view) for line in lines]
    return _order(order, lines, items, shipping_on_the_wire(order, lines, fulfilled.shipments), now)


def _order(
    order: NumberedOrder,
    lines: Sequence[OrderLine],
    items: list[OrderItem],
    shipping: list[OrderShipping],
    now: datetime,
) -> Order:
    return Order(
        id=order.id,
        order_reference=order.order_reference,
        customer_reference=order.customer_reference,
        cost_net=order.cost_net,
        cost_tax=order.cost_tax,
        cost_gross=order.cost_gross,
        created_on=local_text(order.confirmed_at),
        status=order.status,
        items=items,
        shipping=shipping,
        shipping_address=order.shipping_address,
        external_customer_id=order.external_customer_id,
        expected_dispatch_date=_local_text(expected_dispatch(order, lines, now)),
        changed_on=local_text(order.changed_at),
    )


def expected_dispatch(order: NumberedOrder, lines: Sequence[OrderLine], now: datetime) -> datetime | None:
    """Return when the rest of an order is expected to leave; None when nothing remains, or the date is unknown.

    Allocated units leave at the next cut-off. Back-orders leave on the stored date, unless that date has passed
    (specification, shipping dates).
    """
    if not any(line.to_come for line in lines):
        return None
    chosen = order.chosen_shipping
    if not any(line.back_ordered for line in lines):
        dates = shipping_dates(now, chosen.cut_off, chosen.transit_days, FROM_STOCK)
        return None if dates is None else dates.dispatch
    known = chosen.dispatch is not None and uk_date(chosen.dispatch) >= uk_date(now)
    return chosen.dispatch if known else None


def item_on_the_wire(line: OrderLine, fulfilled: Fulfilled, view: CustomerView) -> OrderItem:
    """Return a line of an order, with the components of a bundle as its related items."""
    row = view.snapshot.row_of_id[line.product_id]
    # Without a current price, the customer sees the order's price.
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


def shipping_on_the_wire(
    order: NumberedOrder, lines: Sequence[OrderLine], shipments: Sequence[Shipped]
) -> list[OrderShipping]:
    """Return an entry per shipment; before the first shipment, one entry. The first entry has the shipping cost."""
    if shipments:
        first, *later = shipments
        return [
            shipment_on_the_wire(order, lines, first, order.shipping_net, order.shipping_tax),
            *(shipment_on_the_wire(order, lines, shipped) for shipped in later),
        ]
    contact = order.courier_notifications or NotificationDetails()
    return [
        OrderShipping(
            method_id=order.shipping_method,
            cost_net=order.shipping_net,
            cost_tax=order.shipping_tax,
            tracking_events=[],
            contact_email=contact.email_address,
            contact_phone=contact.phone_number,
        )
    ]


def shipment_on_the_wire(
    order: NumberedOrder,
    lines: Sequence[OrderLine],
    shipped: Shipped,
    cost_net: Decimal = NOTHING,
    cost_tax: Decimal = NOTHING,
) -> OrderShipping:
    """Return a shipment of an order with these lines."""
    return OrderShipping(
        method_id=shipped.shipping_method,
        cost_net=cost_net,
        cost_tax=cost_tax,
        tracking_events=shipped.tracking_events,
        contact_email=shipped.contact_email,
        contact_phone=shipped.contact_phone,
        tracking_number=shipped.tracking_number,
        last_tracking_status=shipped.events[-1].type if shipped.events else None,
        shipment_id=shipped.id,
        carrier=carrier_of(order, shipped),
        tracking_url=shipped.tracking_url,
        dispatched_on=local_text(shipped.dispatched_at),
        items=[
            ShippedUnits(line_id, units, list(shipped.serial_numbers.get(line_id, ())))
            for line_id, units in flat_units(lines, shipped.units)
        ],
    )


def order_as_json(
    order: NumberedOrder, lines: Sequence[OrderLine], fulfilled: Fulfilled, view: CustomerView, now: datetime
) -> bytes:
    """Return an order as JSON."""
    return to_json(order_on_the_wire(order, lines, fulfilled, view, now))


def order_as_csv(
    order: NumberedOrder, lines: Sequence[OrderLine], fulfilled: Fulfilled, view: CustomerView, now: datetime
) -> bytes:
    """Return an order as a line of CSV."""
    rows = view.snapshot.row_of_id
    items = [
        CsvOrderItem(line.id, view.product(rows[line.product_id]).sku, line.quantity, line.cost_net, line.cost_tax)
        for line in lines
    ]
    # The serial numbers of a shipment may not fit into a spreadsheet's cell.
    shipping = [replace(s, items=UNSET) for s in shipping_on_the_wire(order, lines, fulfilled.shipments)]
    return csv_order(_order(order, lines, [], shipping, now), items)


def csv_order(order: Order, items: Sequence[CsvOrderItem]) -> bytes:
    """Return a line of CSV for an order with these items; nested values are JSON text."""
    values = {**{name: getattr(order, name) for name in _CSV_COLUMNS}, "items": items}
    return csv_line(_cell(value) for value in values.values()).encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return to_json(value).decode() if isinstance(value, list | Struct) else str(value)


CSV_HEADER = csv_line(_CSV_COLUMNS).encode()
