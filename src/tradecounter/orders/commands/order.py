"""`tradecounter order`: customers' orders."""

from typing import Annotated, Any

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.session import run_query
from tradecounter.orders.commands.after_sale import amend, cancel, confirm, create, external_id, note
from tradecounter.orders.commands.billing import invoice, pay
from tradecounter.orders.commands.fulfil import dispatch, track, video
from tradecounter.orders.commands.order_list import order_list
from tradecounter.orders.commands.shipments import correct, print_packing, print_picking, take_back
from tradecounter.orders.commands.shown import print_order, whole_order
from tradecounter.orders.find_by_name import order_to_show
from tradecounter.returns.commands import open_for_order

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
app.command("external-id")(external_id)
app.command("invoice")(invoice)
app.command("pay")(pay)
