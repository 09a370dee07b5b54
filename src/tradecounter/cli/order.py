"""`tradecounter order`: customers' orders."""

from typing import Annotated, Any

import typer

from tradecounter.cli.order_after_sale import amend, cancel, confirm, create, note
from tradecounter.cli.order_billing import invoice, pay
from tradecounter.cli.order_fulfil import dispatch, track, video
from tradecounter.cli.order_list import order_list
from tradecounter.cli.order_papers import print_packing, print_picking
from tradecounter.cli.order_shipments import correct, take_back
from tradecounter.cli.order_shown import print_order, whole_order
from tradecounter.cli.output import AsJson
from tradecounter.cli.returns import open_for_order
from tradecounter.cli.session import run_query
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.lookup import order_to_show

app = typer.Typer(no_args_is_help=True, help="Customers' orders.")

app.command("list")(order_list)


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


app.command("create")(create)
app.command("confirm")(confirm)
app.command("dispatch")(dispatch)
app.command("picking-list")(print_picking)
app.command("packing-slip")(print_packing)
app.command("track")(track)
app.command("video")(video)
app.command("shipment")(correct)
app.command("take-back")(take_back)
app.command("amend")(amend)
app.command("cancel")(cancel)
app.command("return")(open_for_order)
app.command("note")(note)
app.command("invoice")(invoice)
app.command("pay")(pay)
