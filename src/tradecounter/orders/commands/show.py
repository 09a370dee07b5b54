"""`tradecounter order list` and `order show`; prints the order that other commands have changed."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, get_args

import msgspec
import typer
from msgspec import structs

from tradecounter.billing.queries.invoices import invoice_numbers
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, Limit, Since, Until
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, show_json, show_part, show_record, show_table
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.kit.clock import local_text
from tradecounter.kit.money import NOTHING
from tradecounter.kit.text import joined_word
from tradecounter.orders.find_by_name import fetch_order, fetch_order_by_any_name
from tradecounter.orders.fulfilled import Fulfilled, Shipped, carrier_of
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.all_orders import OrderFilter, external_ids_of, list_all_orders
from tradecounter.orders.queries.notes import notes_of
from tradecounter.orders.queries.orders import lines_of, lines_of_order
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.states import (
    AnyOrder,
    CancelledOrder,
    CancelledUnconfirmed,
    ConfirmedOrder,
    NumberedOrder,
    State,
)
from tradecounter.orders.wire import OrderItemConfiguration
from tradecounter.products.queries.products import fetch_product
from tradecounter.returns.queries import returns_of_orders
from tradecounter.returns.wire import return_number
from tradecounter.settings import read_settings
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.fulfilment import OrderFulfilment, find_video
from tradecounter.shipments.secret_keys import check_secret

_HIDDEN = "(hidden)"


def as_operators_see_it(order: AnyOrder, lines: Sequence[OrderLine]) -> dict[str, Any]:
    """Return an order under the API's field names, with its lines' SKUs and details that customers do not see."""
    numbered = order if isinstance(order, NumberedOrder) else None
    cancelled = order if isinstance(order, CancelledOrder | CancelledUnconfirmed) else None
    chosen = order.chosen_shipping
    return {
        "id": order.id,
        "kind": order.kind,
        "order_reference": numbered and numbered.order_reference,
        "confirmation_code": order.confirmation_code,
        "customer_id": order.customer_id,
        "customer_reference": order.customer_reference,
        "external_customer_id": order.external_customer_id,
        "state": order.state,
        "status": order.status if isinstance(order, NumberedOrder | CancelledUnconfirmed) else None,
        "created_on": local_text(order.placed_at),
        "cancelled_on": cancelled and local_text(cancelled.cancelled_at),
        "cancel_reason": cancelled and cancelled.cancel_reason,
        "cost_net": order.cost_net,
        "cost_tax": order.cost_tax,
        "cost_gross": order.cost_gross,
        "shipping_cost_net": numbered and numbered.shipping_net,
        "shipping_cost_tax": numbered and numbered.shipping_tax,
        "total": numbered and numbered.gross,
        "shipping_method": order.shipping_method,
        "shipping_description": chosen and f"{chosen.provider}, {chosen.description}",
        "order_notifications": order.order_notifications,
        "courier_notifications": order.courier_notifications,
        "billing_address": order.billing_address,
        "shipping_address": order.shipping_address,
        "items": [_item(order, line) for line in lines],
    }


def _item(order: AnyOrder, line: OrderLine) -> dict[str, Any]:
    return {
        **_with_units(order, line),
        "cost_net": line.cost_net,
        "cost_tax": line.cost_tax,
        "allocated": line.allocated,
        "back_ordered": line.back_ordered,
        "dispatched": line.dispatched,
        "related_items": [_with_units(order, part) for part in line.components],
    }


def _with_units(order: AnyOrder, line: OrderLine) -> dict[str, Any]:
    """Return an order's line with its units and its net unit cost; nothing is wanted of a cancelled order."""
    return {
        "id": line.id,
        "sku": line.sku,
        "name": line.name,
        "quantity": line.to_come + line.dispatched if isinstance(order, NumberedOrder) else line.quantity,
        "quantity_allocated": line.allocated,
        "quantity_back_ordered": line.back_ordered,
        "quantity_dispatched": line.dispatched,
        "quantity_cancelled": line.cancelled,
        "quantity_returned": line.returned,
        "unit_cost": line.unit_cost,
    }


async def whole_order(tx: Transaction, order: AnyOrder, *, passwords: bool = False) -> dict[str, Any]:
    """Return an order as `as_operators_see_it` does, with fulfilment and billing; passwords are hidden by default."""
    lines = await lines_of_order(tx, order.id)
    unreadable: list[int] = []
    fulfilment = OrderFulfilment(ProvisioningVault(lambda: secret_keys(read_settings())), unreadable.extend)
    fulfilled = (await fulfilment.of_orders(tx, [order.id]))[order.id]
    if unreadable:
        await check_secret(tx, secret_keys(read_settings()))
        items = ", ".join(map(str, unreadable))
        typer.echo(f"warning: configurations that cannot be decrypted are shown without data: item {items}", err=True)
    video = await find_video(tx, order.id)
    shown = as_operators_see_it(order, lines)
    for item in shown["items"]:
        for part in (item, *item["related_items"]):
            part["serial_numbers"] = list(fulfilled.serial_numbers.get(part["id"], ()))
            part["configurations"] = _configurations(part["id"], fulfilled, passwords=passwords)
    shown["shipments"] = [_shipment(order, shipped) for shipped in fulfilled.shipments]
    shown["video"] = video
    shown["external_id"] = (await external_ids_of(tx, [order.id])).get(order.id)
    returns, notes = await returns_of_orders(tx, [order.id]), await notes_of(tx, [order.id])
    shown["returns"] = [return_number(return_id) for return_id in returns.get(order.id, ())]
    shown["notes"] = [{"at": local_text(n.at), "by": n.by, "text": n.text} for n in notes[order.id]]
    return shown | await _billing(tx, order)


async def _billing(tx: Transaction, order: AnyOrder) -> dict[str, Any]:
    invoices = (await invoice_numbers(tx, [order.id])).get(order.id, [])
    return {
        "invoice": invoices[-1] if invoices else None,
        "invoices": invoices,
        "paid": order.paid if isinstance(order, NumberedOrder) else NOTHING,
        "credited": order.credited if isinstance(order, NumberedOrder) else NOTHING,
        "due": order.due if isinstance(order, ConfirmedOrder) else None,
    }


def _configurations(item_id: int, fulfilled: Fulfilled, *, passwords: bool) -> list[OrderItemConfiguration]:
    configurations = fulfilled.configurations.get(item_id, ())
    if passwords:
        return list(configurations)
    return [
        OrderItemConfiguration(
            structs.replace(
                c.data,
                adsl_password=None if c.data.adsl_password is None else _HIDDEN,
                wifi_password=None if c.data.wifi_password is None else _HIDDEN,
            )
        )
        for c in configurations
    ]


def _shipment(order: AnyOrder, shipped: Shipped) -> dict[str, Any]:
    return {
        "id": shipped.id,
        "dispatched_on": local_text(shipped.dispatched_at),
        "method_id": shipped.shipping_method,
        "tracking_number": shipped.tracking_number,
        "contact_email": shipped.contact_email,
        "contact_phone": shipped.contact_phone,
        "items": [{"id": line_id, "quantity": units} for line_id, units in shipped.units.items()],
        "tracking_events": shipped.tracking_events,
        "carrier": carrier_of(order, shipped),
        "invoice": shipped.invoice,
    }


def change_order(
    reference: str,
    change: Callable[[Transaction, datetime], Awaitable[object]],
    *,
    as_json: bool,
    dry_run: bool = False,
) -> None:
    """Change an order and print it; a `dry_run` undoes the change."""

    async def work(tx: Transaction, now: datetime) -> dict[str, Any]:
        await change(tx, now)
        return await whole_order(tx, await fetch_order(tx, reference))

    print_order(run_change(work, dry_run=dry_run), as_json=as_json)


def print_order(order: dict[str, Any], *, as_json: bool) -> None:
    """Print the result of `whole_order`."""
    if as_json:
        show_json(order)
        return
    items, shipments, notes = order.pop("items"), order.pop("shipments"), order.pop("notes")
    show_record(order, as_json=False)
    typer.echo()
    columns = ("id", "sku", "quantity", "allocated", "back_ordered", "dispatched", "cancelled", "returned",
               "unit_cost", "cost_net", "bundle")  # fmt: skip
    parts = [
        {**part, "cancelled": part["quantity_cancelled"], "returned": part["quantity_returned"]}
        for item in items
        for part in (item, *({**inner, "bundle": item["id"]} for inner in item["related_items"]))
    ]
    show_table(parts, columns, as_json=False)
    for title, name in (("Serial numbers", "serial_numbers"), ("Configurations", "configurations")):
        records = _of_parts(parts, name)
        show_part(title, records, list(records[0] | records[-1]) if records else ())
    show_part(
        "Shipments",
        map(_shipment_in_words, shipments),
        ("id", "dispatched_on", "method_id", "carrier", "tracking_number", Prose("items"), Prose("tracking_events")),
    )
    show_part("Notes", notes, ("at", "by", Prose("text")))


def _shipment_in_words(shipment: dict[str, Any]) -> dict[str, Any]:
    """Return a shipment with its items and tracking events as readable strings."""
    return {
        **shipment,
        "items": [f"{item['quantity']} of {item['id']}" for item in shipment["items"]],
        "tracking_events": "; ".join(
            f"{event['date'].replace('T', ' ')} {event['type']}: {event['description']}"
            + f" ({event['locality']})" * bool(event["locality"])
            for event in msgspec.to_builtins(shipment["tracking_events"])
        ),
    }


def _of_parts(parts: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return a list member's values from all items and their components, each with the item's id."""
    return [
        {"item": part["id"], **msgspec.to_builtins(value.data if isinstance(value, OrderItemConfiguration) else value)}
        for part in parts
        for value in part[name]
    ]


listing = typer.Typer()
_STATES: tuple[State, ...] = get_args(State)
_COLUMNS = ("order", Prose("status", 12), "created_on", "cost_gross", "customer_id", "customer_reference", "kind", "id",
            "invoice")  # fmt: skip


def _status(text: str) -> dict[str, str]:
    """Return the OrderFilter member for a status label or a state. Raises BadParameter."""
    known = {label: {"status": label} for label in STATUSES} | {state: {"state": state} for state in _STATES}
    match = next((member for name, member in known.items() if joined_word(name) == joined_word(text)), None)
    if match is None:
        raise typer.BadParameter(f"{text!r} is not one of: {', '.join(known)}")
    return match


def _for_people(order: dict[str, Any]) -> dict[str, Any]:
    """Return an order named by reference or else by code, with its state if it has no status."""
    name = order["order_reference"] or order["confirmation_code"]
    return {**order, "order": name, "status": order["status"] or order["state"]}


@listing.command("list")
@lists_records(_COLUMNS, in_table=_for_people)
async def order_list(
    tx: Transaction,
    customer: Customer = None,
    reference: Annotated[
        str | None, typer.Option(metavar="R", help="Only orders whose reference or id begins with R.")
    ] = None,
    customer_reference: Annotated[
        str | None, typer.Option(metavar="R", help="Only orders with this customer reference, in upper or lower case.")
    ] = None,
    external_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Only the order with this id of another program.")
    ] = None,
    sku: Annotated[str | None, typer.Option(metavar="S", help="Only orders with this product.")] = None,
    since: Since = None,
    until: Until = None,
    status: Annotated[
        Any,
        typer.Option(
            parser=_status,
            metavar="S",
            help=f"Only orders with this status ({', '.join(STATUSES)}) or state ({', '.join(_STATES)}); ignores case.",
        ),
    ] = None,
    limit: Limit = LISTED,
) -> list[dict[str, Any]]:
    """List orders and quotes, latest first: by the time of confirmation, or of creation if unconfirmed."""
    order_filter = OrderFilter(
        customer_id=None if customer is None else (await fetch_account(tx, customer)).id,
        reference=reference,
        customer_reference=customer_reference,
        external_id=external_id,
        product_ids=None if sku is None else [(await fetch_product(tx, sku)).record.id],
        created_from=since,
        created_to=until,
        **(status or {}),
    )
    return await _listed(tx, order_filter, limit)


async def _listed(tx: Transaction, order_filter: OrderFilter, limit: int) -> list[dict[str, Any]]:
    orders = await list_all_orders(tx, order_filter, limit)
    ids = [order.id for order in orders]
    lines, invoices = await lines_of(tx, ids), await invoice_numbers(tx, ids)
    latest = {order_id: numbers[-1] for order_id, numbers in invoices.items()}
    return [as_operators_see_it(o, lines[o.id]) | {"invoice": latest.get(o.id)} for o in orders]


app = typer.Typer(no_args_is_help=True, help="Customers' orders.")


@app.command("show")
def show_one(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ORDER",
            help="The order's reference, id or confirmation code (or its beginning), or the customer's own reference.",
        ),
    ],
    passwords: Annotated[bool, typer.Option("--passwords", help="Show the passwords of configurations.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show an order."""

    async def work(tx: Transaction) -> dict[str, Any]:
        return await whole_order(tx, await fetch_order_by_any_name(tx, reference), passwords=passwords)

    print_order(run_query(work), as_json=as_json)
