"""`tradecounter order amend`, `cancel`, `note` and `external-id`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import (
    LARGEST_METHOD,
    DryRun,
    OptionalId,
    OrderName,
    called,
    item_units,
    named_number,
    numbered,
)
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, reporting_errors
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import named_by
from tradecounter.kit.json_text import read_json
from tradecounter.kit.numbers import read_count, read_pounds
from tradecounter.orders.add_note import add_note
from tradecounter.orders.amend.amend_order import amend_order
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.commands.place import OverrideReason, read_file
from tradecounter.orders.commands.shown import change_order
from tradecounter.orders.external_ids import set_external_id
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.order_context import read_contexts
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.requests import Cancellation
from tradecounter.orders.reseller_wire import AmendOrderRequest, ExternalIdChange

app = typer.Typer()


def _new_item(text: str) -> dict[str, Any]:
    sku, quantity = named_number(text, "SKU=QUANTITY", read_count)
    return {"sku": sku, "quantity": quantity}


def _price(text: str) -> dict[str, Any]:
    item_id, cost = numbered(text, "ITEM_ID=UNIT_COST", read_pounds)
    return {"id": item_id, "unit_cost": cost}


@app.command("amend")
def amend(
    reference: OrderName,
    item: Annotated[
        list[Any] | None,
        typer.Option(
            parser=item_units,
            metavar="ITEM_ID=QUANTITY",
            help="The units of an item that are wanted, dispatched ones included; 0 removes it. May be repeated.",
        ),
    ] = None,
    add: Annotated[
        list[Any] | None,
        typer.Option(parser=_new_item, metavar="SKU=QUANTITY", help="A new item at today's price; may be repeated."),
    ] = None,
    price: Annotated[
        list[Any] | None,
        typer.Option(parser=_price, metavar="ITEM_ID=UNIT_COST", help="An item's net unit cost; may be repeated."),
    ] = None,
    address: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='The delivery address as JSON, or {"id": ID} of a saved one; - is stdin.'),
    ] = None,
    shipping_method: Annotated[
        int | None, OptionalId("--shipping-method", "ID", "The shipping method.", largest=LARGEST_METHOD)
    ] = None,
    customer_reference: Annotated[
        str | None, typer.Option("--reference", metavar="TEXT", help="The customer's own reference.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which is sent to the customer.")] = "",
    override_credit: OverrideReason = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Amend an order before its dispatch; stock, credit and totals follow, and the customer gets an e-mail."""
    policy = from_settings(OrderingPolicy.from_settings)
    items = _amended_items(item or (), add or (), price or ())
    names = called(items=[each.get("sku") or f"item {each['id']}" for each in items])
    with reporting_errors(), named_by(names):
        values = {
            "items": items,
            "shipping_address": None if address is None else msgspec.Raw(read_file(address)),
            "shipping_method": None if shipping_method is None else {"id": shipping_method},
            "customer_reference": customer_reference,
            "reason": reason,
            "override_credit": None if override_credit is None else {"reason": override_credit},
        }
        request = read_json(msgspec.json.encode(values), AmendOrderRequest)

    async def work(tx: Transaction) -> None:
        order, now = await fetch_order(tx, reference), SystemClock().now()
        context = (await read_contexts(tx, policy, now)).of(order.customer_id, now)
        with named_by(names):
            await amend_order(tx, reference, request, context)

    change_order(reference, work, as_json=as_json, dry_run=dry_run)


def _amended_items(
    quantities: Sequence[dict[str, Any]], added: Sequence[dict[str, Any]], prices: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    items: dict[int, dict[str, Any]] = {}
    for item in quantities:
        if item["id"] in items:
            raise typer.BadParameter(f"--item {item['id']} is named twice")
        items[item["id"]] = dict(item)
    for item in prices:
        items.setdefault(item["id"], {}).update(item)
    return [*items.values(), *added]


@app.command("cancel")
@takes_request(
    items=Option(
        "--item",
        "Units to cancel; may be repeated. Default: all that are not dispatched.",
        "ITEM_ID=QUANTITY",
        item_units,
    )
)
def cancel(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ORDER", help="The order's reference, id or confirmation code, or the code's beginning."
        ),
    ],
    given: Cancellation,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Cancel all undispatched units of an order, or some of them; releases their stock and credit."""
    change_order(
        reference, lambda tx: cancel_order(tx, reference, given, SystemClock().now()), as_json=as_json, dry_run=dry_run
    )


@app.command("note")
def note(
    reference: OrderName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The note.")],
    as_json: AsJson = False,
) -> None:
    """Add a note to an order, which the customer does not see."""
    change_order(reference, lambda tx: add_note(tx, reference, text, SystemClock().now()), as_json=as_json)


@app.command("external-id")
@takes_request(required=("external_id",), external_id=Option("ID", "The id; an empty one takes it away."))
def external_id(reference: OrderName, given: ExternalIdChange, as_json: AsJson = False) -> None:
    """Give an order the id that it has in another program, which the customer never sees."""
    change_order(
        reference, lambda tx: set_external_id(tx, reference, given.external_id, SystemClock().now()), as_json=as_json
    )
