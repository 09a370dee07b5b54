"""`tradecounter order create`, `confirm`, `amend`, `cancel`, `note` and `external-id`."""

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from msgspec.structs import replace

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import (
    LARGEST_METHOD,
    CustomerId,
    DryRun,
    OptionalId,
    OrderName,
    called,
    each_once,
    item_units,
    named_number,
    numbered,
    read_bytes,
)
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, reporting_errors, run_change
from tradecounter.kit.errors import named_by
from tradecounter.kit.json_text import check_text, decode_json, read_json, to_json
from tradecounter.kit.numbers import read_count, read_pounds
from tradecounter.orders.amend_order import amend_order
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.commands.show import change_order, print_order, whole_order
from tradecounter.orders.confirm_order import confirm_for_customer
from tradecounter.orders.create.check_request import read_request
from tradecounter.orders.create.place_order import create_for_customer
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import add_note, set_external_id
from tradecounter.orders.order_context import OrderingPolicy, read_contexts
from tradecounter.orders.reseller_wire import (
    AmendOrderRequest,
    Cancellation,
    Confirmation,
    ExternalIdChange,
    OverrideCredit,
)
from tradecounter.orders.wire import ShippingChoice

creation = typer.Typer()

OverrideReason = Annotated[
    str | None,
    typer.Option("--override-credit", metavar="REASON", help="Allow more than the available credit, for this reason."),
]


@creation.command("create")
def create(
    customer_id: CustomerId,
    file: Annotated[
        Path, typer.Option("--file", metavar="FILE", help="The body of `POST /order` as JSON; - is standard input.")
    ],
    confirm_now: Annotated[bool, typer.Option("--confirm", help="Confirm the order too.")] = False,
    override_credit: OverrideReason = None,
    as_json: AsJson = False,
) -> None:
    """Create an order for a customer, at its prices and terms."""
    policy = from_settings(OrderingPolicy.from_settings)
    with reporting_errors():
        body = _read_file(file)

    async def work(tx: Transaction, now: datetime) -> dict[str, Any]:
        context = (await read_contexts(tx, policy, now)).of(customer_id, now)
        request = await read_request(body, context, lambda: nullcontext(tx))
        request = replace(request, auto_confirm=confirm_now or request.auto_confirm)
        order = await create_for_customer(tx, request, context, override_credit=override_credit)
        return await whole_order(tx, order)

    print_order(run_change(work), as_json=as_json)


@creation.command("confirm")
def confirm(
    code: Annotated[str, typer.Argument(metavar="CODE", help="The confirmation code, or its beginning.")],
    shipping_method: Annotated[
        int | None,
        OptionalId("--shipping-method", "ID", "One of the shipping options.", largest=LARGEST_METHOD),
    ] = None,
    override_credit: OverrideReason = None,
    as_json: AsJson = False,
) -> None:
    """Confirm a pending order or a priced quote for its customer."""
    policy, request = from_settings(OrderingPolicy.from_settings), confirmation(shipping_method, override_credit)

    async def work(tx: Transaction, now: datetime) -> dict[str, Any]:
        order = await confirm_for_customer(tx, await fetch_order(tx, code), request, policy, now)
        return await whole_order(tx, order)

    print_order(run_change(work), as_json=as_json)


def confirmation(method_id: int | None, override_reason: str | None) -> Confirmation:
    """Return the request of a confirmation's options."""
    return Confirmation(
        None if method_id is None else ShippingChoice(method_id),
        override_credit=None if override_reason is None else OverrideCredit(override_reason),
    )


def _read_file(path: Path) -> bytes:
    """Return a JSON file's content; - is standard input. Raises DomainError (invalid)."""
    raw = read_bytes(str(path))
    check_text(raw)
    decode_json(raw)
    return raw


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
    quantities, costs = each_once("--item", item, "quantity"), each_once("--price", price, "unit_cost")
    items = [
        *({"id": key, "quantity": quantities.get(key), "unit_cost": costs.get(key)} for key in quantities | costs),
        *(add or ()),
    ]
    names = called(items=[each.get("sku") or f"item {each['id']}" for each in items])
    with reporting_errors(), named_by(names):
        request = _amend_request(items, address, shipping_method, customer_reference, reason, override_credit)

    async def work(tx: Transaction, now: datetime) -> None:
        order = await fetch_order(tx, reference)
        context = (await read_contexts(tx, policy, now)).of(order.customer_id, now)
        with named_by(names):
            await amend_order(tx, reference, request, context)

    change_order(reference, work, as_json=as_json, dry_run=dry_run)


def _amend_request(
    items: Sequence[dict[str, Any]],
    address: Path | None,
    shipping_method: int | None,
    customer_reference: str | None,
    reason: str,
    override_credit: str | None,
) -> AmendOrderRequest:
    """Return the request of the options. Raises DomainError (invalid)."""
    members = {
        "items": items,
        "shipping_address": None if address is None else msgspec.Raw(_read_file(address)),
        "shipping_method": None if shipping_method is None else {"id": shipping_method},
        "customer_reference": customer_reference,
        "reason": reason,
        "override_credit": None if override_credit is None else {"reason": override_credit},
    }
    return read_json(to_json(members), AmendOrderRequest)


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
    reference: OrderName,
    request: Cancellation,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Cancel all undispatched units of an order, or some of them; releases their stock and credit."""
    change_order(
        reference,
        lambda tx, now: cancel_order(tx, reference, request, now),
        as_json=as_json,
        dry_run=dry_run,
    )


@app.command("note")
def note(
    reference: OrderName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The note.")],
    as_json: AsJson = False,
) -> None:
    """Add a note to an order, which the customer does not see."""
    change_order(reference, lambda tx, now: add_note(tx, reference, text, now), as_json=as_json)


@app.command("external-id")
@takes_request(required=("external_id",), external_id=Option("ID", "The id; an empty one takes it away."))
def external_id(reference: OrderName, request: ExternalIdChange, as_json: AsJson = False) -> None:
    """Give an order the id that it has in another program, which the customer never sees."""
    change_order(reference, lambda tx, now: set_external_id(tx, reference, request.external_id, now), as_json=as_json)
