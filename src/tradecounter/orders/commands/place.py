"""`tradecounter order create` and `order confirm`."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import LARGEST_METHOD, CustomerId, OptionalId
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.session import from_settings, reporting_errors, run_change
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.json_text import check_text, decode_json
from tradecounter.orders.commands.shown import print_order, whole_order
from tradecounter.orders.confirm_for_customer import confirm_for_customer
from tradecounter.orders.create.create_for_customer import create_for_customer
from tradecounter.orders.create.read_request import read_request
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.order_context import read_contexts
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.reseller_wire import Confirmation, OverrideCredit
from tradecounter.orders.wire import ShippingChoice

app = typer.Typer()

OverrideReason = Annotated[
    str | None,
    typer.Option("--override-credit", metavar="REASON", help="Allow more than the available credit, for this reason."),
]


@app.command("create")
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
        body = read_file(file)

    async def work(tx: Transaction) -> dict[str, Any]:
        now = SystemClock().now()
        context = (await read_contexts(tx, policy, now)).of(customer_id, now)
        request = await read_request(body, context, lambda: nullcontext(tx))
        order, _ = await create_for_customer(tx, request, context, confirm=confirm_now, override_credit=override_credit)
        return await whole_order(tx, order)

    print_order(run_change(work), as_json=as_json)


@app.command("confirm")
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

    async def work(tx: Transaction) -> dict[str, Any]:
        order = await confirm_for_customer(tx, await fetch_order(tx, code), request, policy, SystemClock().now())
        return await whole_order(tx, order)

    print_order(run_change(work), as_json=as_json)


def confirmation(method_id: int | None, override_reason: str | None) -> Confirmation:
    """Return the request of a confirmation's options."""
    return Confirmation(
        None if method_id is None else ShippingChoice(method_id),
        override_credit=None if override_reason is None else OverrideCredit(override_reason),
    )


def read_file(path: Path) -> bytes:
    """Return a JSON file's content; - is standard input. Raises OperatorError, DomainError (invalid)."""
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise OperatorError(f"{path} cannot be read: {error.strerror}") from error
    check_text(raw)
    decode_json(raw)
    return raw
