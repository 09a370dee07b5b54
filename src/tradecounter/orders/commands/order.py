"""`tradecounter order`: customers' orders; `order show`."""

from typing import Annotated, Any

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.session import run_query
from tradecounter.orders.commands.shown import print_order, whole_order
from tradecounter.orders.find_by_name import order_to_show

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
        return await whole_order(tx, await order_to_show(tx, reference), passwords=passwords)

    print_order(run_query(work), as_json=as_json)
