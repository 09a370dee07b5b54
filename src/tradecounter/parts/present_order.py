"""Converts orders to the back office's resource."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any

from msgspec import UNSET, Struct, structs

from tradecounter.audit.queries import entries_of
from tradecounter.billing.queries.invoices import invoice_numbers
from tradecounter.credit_notes.queries import credit_note_numbers
from tradecounter.db.transaction import Transaction
from tradecounter.kit.wire import made_from
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.fulfilled import Fulfilled, Shipped, carrier_of
from tradecounter.orders.lines import OrderLine, products_of
from tradecounter.orders.present import expected_dispatch, item_on_the_wire, shipping_on_the_wire
from tradecounter.orders.queries.all_orders import external_ids_of
from tradecounter.orders.queries.notes import notes_of
from tradecounter.orders.queries.orders import invoiced_units, lines_of
from tradecounter.orders.reseller_wire import (
    Happening,
    Note,
    ResellerOrder,
    ResellerOrderItem,
    ResellerShipping,
    ResellerShippingOption,
    ResellerTrackingEvent,
    Shipment,
    ShippedItem,
)
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import AnyOrder, NumberedOrder
from tradecounter.orders.wire import OrderItemConfiguration, OrderShipping
from tradecounter.returns.queries import returns_of_orders
from tradecounter.returns.wire import return_number
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.storefront.storefront import RefreshableViews
from tradecounter.storefront.view import CustomerView


class OrderPresenter(Struct, frozen=True):
    """Reads and converts orders; the products in them are shown as their customers see them."""

    views: RefreshableViews
    fulfilment: OrderFulfilment

    async def one(self, tx: Transaction, order: AnyOrder, now: datetime) -> ResellerOrder:
        """Return an order as the back office shows it."""
        [shown] = await self.many(tx, [order], now)
        return shown

    async def named(self, tx: Transaction, reference: str, now: datetime) -> ResellerOrder:
        """Present the order that a reference, an id or a confirmation code names. Raises DomainError (not found)."""
        return await self.one(tx, await fetch_order(tx, reference), now)

    async def many(self, tx: Transaction, orders: Sequence[AnyOrder], now: datetime) -> list[ResellerOrder]:
        """Return orders as the back office shows them, with a fixed number of statements."""
        ids = [order.id for order in orders]
        lines, fulfilled = await lines_of(tx, ids), await self.fulfilment.of_orders(tx, ids)
        invoiced, credit_notes = await invoiced_units(tx, ids), await credit_note_numbers(tx, ids)
        invoices, notes = await invoice_numbers(tx, ids), await notes_of(tx, ids)
        returns, external_ids = await returns_of_orders(tx, ids), await external_ids_of(tx, ids)
        history = await _histories(tx, orders, invoices, credit_notes)
        shown = []
        for order in orders:
            view = await self.views.showing(order.customer_id, products_of(lines[order.id]))
            presented = _present(
                order,
                lines[order.id],
                fulfilled[order.id],
                view,
                now,
                external_id=external_ids.get(order.id),
                invoices=invoices.get(order.id, []),
                credit_notes=credit_notes.get(order.id, []),
                returns=[return_number(return_id) for return_id in returns.get(order.id, ())],
                notes=[Note(note.at, note.by, note.text) for note in notes[order.id]],
                history=history[order.id],
            )
            for item in presented.items:
                item.quantity_invoiced = invoiced.get(item.id, 0)
                item.quantity_to_invoice -= item.quantity_invoiced
            shown.append(presented)
        return shown


async def _histories(
    tx: Transaction, orders: Sequence[AnyOrder], *documents: Mapping[int, Sequence[int]]
) -> dict[int, list[Happening]]:
    """Return what happened to orders, by their ids, also under the names that they had before the confirmation.

    `documents` are the numbers of their invoices and of their credit notes.
    """
    ids = {f"{order.kind}/{order.confirmation_code}": order.id for order in orders}
    ids |= {f"order/{order.name}": order.id for order in orders}
    for kind, numbers in zip(("invoice", "credit-note"), documents, strict=True):
        ids |= {f"{kind}/{number}": order_id for order_id, found in numbers.items() for number in found}
    histories: dict[int, list[Happening]] = {order.id: [] for order in orders}
    for entry in await entries_of(tx, list(ids)):
        happening = Happening(entry.at, entry.acting_user or entry.actor_name, entry.action)
        histories[ids[entry.subject]].append(happening)
    return histories


def _present(
    order: AnyOrder, lines: Sequence[OrderLine], fulfilled: Fulfilled, view: CustomerView, now: datetime, **others: Any
) -> ResellerOrder:
    """Return an order; `others` are the fields that are not read from the order, such as its invoices."""
    numbered = order if isinstance(order, NumberedOrder) else None
    shipping = [] if numbered is None else shipping_on_the_wire(numbered, lines, fulfilled.shipments)
    return made_from(
        order,
        ResellerOrder,
        order_reference=None if numbered is None else numbered.order_reference,
        created_on=order.placed_at,
        status=None if numbered is None else numbered.status,
        items=[_item(line, fulfilled, view, confirmed=numbered is not None) for line in lines],
        shipping=[_shipping(*entry) for entry in zip_longest(shipping, fulfilled.shipments)],
        shipping_options=[option_in_utc(order, o) for o in order.shipping_options] if numbered is None else UNSET,
        expected_dispatch_date=None if numbered is None else expected_dispatch(numbered, lines, now),
        shipments=[_shipment(order, shipped) for shipped in fulfilled.shipments],
        **others,
    )


def _shipment(order: AnyOrder, shipped: Shipped) -> Shipment:
    items = [
        ShippedItem(line_id, units, list(shipped.serial_numbers.get(line_id, ())))
        for line_id, units in shipped.units.items()
    ]
    return made_from(shipped, Shipment, carrier=carrier_of(order, shipped), items=items)


def _shipping(order_shipping: OrderShipping, shipped: Shipped | None) -> ResellerShipping:
    """Return what is not in `shipments`; nothing is `shipped` before the first dispatch."""
    events = [] if shipped is None else [made_from(e, ResellerTrackingEvent, date=e.at) for e in shipped.events]
    return made_from(order_shipping, ResellerShipping, tracking_events=events)


def option_in_utc(order: AnyOrder, option: ShippingOption) -> ResellerShippingOption:
    """Return a shipping option of an order as the back office shows it."""
    return made_from(
        option,
        ResellerShippingOption,
        expected_dispatch_date=option.dispatch,
        expected_arrival_date=option.arrival,
        total_gross=order.gross_with(option),
    )


def _item(line: OrderLine, fulfilled: Fulfilled, view: CustomerView, *, confirmed: bool) -> ResellerOrderItem:
    item = item_on_the_wire(line, fulfilled, view)
    members = structs.asdict(item) | {
        "quantity": line.dispatched + line.to_come if confirmed else line.quantity,
        "quantity_cancelled": line.cancelled if confirmed else 0,
        "configurations": [
            OrderItemConfiguration(structs.replace(each.data, adsl_password=None, wifi_password=None))
            for each in item.configurations
        ],
    }
    return ResellerOrderItem(
        **members,
        quantity_allocated=line.allocated,
        quantity_back_ordered=line.back_ordered,
        quantity_invoiced=0,
        quantity_to_invoice=line.dispatched - line.unbilled,
        quantity_returned=line.returned,
        unit_cost=line.unit_cost,
    )
