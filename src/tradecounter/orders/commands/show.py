"""`tradecounter order list` and `order show`."""

from typing import Annotated, Any, get_args

import typer

from tradecounter.billing.queries.invoices import invoice_numbers
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, Limit, Since, Until
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose
from tradecounter.edge.command_line.session import run_query
from tradecounter.kit.text import joined_word
from tradecounter.orders.commands.print_order import as_operators_see_it, print_order, whole_order
from tradecounter.orders.find_by_name import fetch_order_by_any_name
from tradecounter.orders.queries.all_orders import OrderFilter, list_all_orders
from tradecounter.orders.queries.orders import lines_of
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.states import State
from tradecounter.products.queries.products import fetch_product

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
