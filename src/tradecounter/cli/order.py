"""`tradecounter order`: what customers ordered."""

from typing import Annotated, Any

import typer

from tradecounter.billing.queries import invoice_numbers
from tradecounter.cli.order_billing import invoice, pay
from tradecounter.cli.order_fulfil import cancel, dispatch, track, video
from tradecounter.cli.order_shown import as_operators_see_it, print_order, whole_order
from tradecounter.cli.output import AsJson, show_table
from tradecounter.cli.session import with_database
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.ordering.queries import lines_of, list_all_orders

app = typer.Typer(no_args_is_help=True, help="Customers' orders.")


@app.command("list")
def show_all(
    status: Annotated[
        str | None,
        typer.Option(
            help="A status label such as 'Awaiting dispatch', or a state: pending, expired, confirmed or cancelled. "
            "What no order has finds nothing."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, metavar="N", help="At most so many, the latest first.")
    ] = 1000,
    as_json: AsJson = False,
) -> None:
    """List orders and quotes of all customers: what was confirmed last, or created last if not confirmed, first."""

    async def work(database: Database) -> list[dict[str, Any]]:
        async with reading(database) as tx:
            orders = await list_all_orders(tx, status, limit)
            ids = [order.id for order in orders]
            lines, invoices = await lines_of(tx, ids), await invoice_numbers(tx, ids)
        return [as_operators_see_it(o, lines[o.id]) | {"invoice": invoices.get(o.id)} for o in orders]

    columns = (
        "id",
        "kind",
        "order_reference",
        "confirmation_code",
        "customer_id",
        "customer_reference",
        "state",
        "status",
        "created_on",
        "cost_gross",
        "invoice",
    )
    found = with_database(work)
    if not as_json:  # once there is a reference, the code only takes room
        found = [order | {"confirmation_code": None} if order["order_reference"] else order for order in found]
    show_table(found, columns, as_json=as_json)


@app.command("show")
def show_one(
    reference: Annotated[str, typer.Argument(help="An order reference, an order id or a confirmation code.")],
    passwords: Annotated[bool, typer.Option("--passwords", help="Show the passwords of configurations.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show an order."""

    async def work(database: Database) -> dict[str, Any]:
        async with reading(database) as tx:
            return await whole_order(tx, reference, passwords=passwords)

    print_order(with_database(work), as_json=as_json)


app.command("dispatch")(dispatch)
app.command("track")(track)
app.command("video")(video)
app.command("cancel")(cancel)
app.command("invoice")(invoice)
app.command("pay")(pay)
