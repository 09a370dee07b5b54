"""`tradecounter order return` and `tradecounter return`: what customers send back."""

from datetime import datetime
from typing import Annotated, Any, get_args

import typer
from msgspec.structs import asdict

from tradecounter.credit_notes.credit_return import receive_and_credit
from tradecounter.credit_notes.reseller_wire import ReceivedReturn
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, InState, Limit, OrderName, called, each_once, item_units
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, show_json, show_record, show_table
from tradecounter.edge.command_line.request_options import Option, read_request, takes_request
from tradecounter.edge.command_line.session import from_settings, reporting_errors, run_change, run_query
from tradecounter.kit.errors import named_by
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import read_id
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.returns.handle_returns import close_return, open_return, shown_return
from tradecounter.returns.queries import ReturnState, lines_of_returns, list_returns
from tradecounter.returns.wire import Receipt, Return, ReturnRequest, return_on_the_wire

app = typer.Typer(no_args_is_help=True, help="Units that customers send back.")
order = typer.Typer()

Number = Annotated[str, typer.Argument(metavar="NUMBER", help="The number of the return, such as RMA-1001.")]

_COLUMNS = (
    "number",
    "order_reference",
    "customer_id",
    "state",
    "opened_at",
    "received_at",
    "closed_at",
    Prose("reason"),
)


@order.command("return")
@takes_request(
    items=Option("--item", "Dispatched units that come back; may be repeated.", "ITEM_ID=QUANTITY", item_units),
)
def open_for_order(
    reference: OrderName,
    request: ReturnRequest,
    serial: Annotated[
        list[str] | None, typer.Option(metavar="ITEM_ID:SERIAL", help="A unit's serial number; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Open a return of dispatched units and print its number."""
    serials = _serials(serial)
    for item in request.items:
        item.serial_numbers = serials.pop(item.id, [])
    for item_id in serials:
        raise typer.BadParameter(f"--serial {item_id}:…: --item {item_id}=… is missing")

    async def work(tx: Transaction, now: datetime) -> Return:
        return await shown_return(tx, await open_return(tx, reference, request, now))

    _print(run_change(work), as_json=as_json)


def _serials(texts: list[str] | None) -> dict[int, list[str]]:
    serials: dict[int, list[str]] = {}
    for text in texts or ():
        name, _, number = text.partition(":")
        item_id = read_id(name)
        if item_id is None or not number:
            raise typer.BadParameter(f"--serial {text!r} is not ITEM_ID:SERIAL")
        serials.setdefault(item_id, []).append(number)
    return serials


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(
    tx: Transaction,
    state: Annotated[Any, InState("returns", get_args(ReturnState))] = None,
    customer: Customer = None,
    limit: Limit = LISTED,
) -> list[dict[str, Any]]:
    """List returns, the latest first."""
    returns = await list_returns(tx, limit, state=state, customer_id=customer)
    lines = await lines_of_returns(tx, [one.id for one in returns])
    return [asdict(return_on_the_wire(one, lines[one.id])) for one in returns]


@app.command("show")
def show_one(number: Number, as_json: AsJson = False) -> None:
    """Show a return."""
    _print(run_query(lambda tx: shown_return(tx, number)), as_json=as_json)


@app.command("receive")
def receive(
    number: Number,
    restock: Annotated[
        list[Any] | None,
        typer.Option(parser=item_units, metavar="ITEM_ID=QUANTITY", help="Units to sell again; may be repeated."),
    ] = None,
    scrap: Annotated[
        list[Any] | None,
        typer.Option(parser=item_units, metavar="ITEM_ID=QUANTITY", help="Units to write off; may be repeated."),
    ] = None,
    credit: Annotated[
        bool, typer.Option("--credit", help="Credit the invoiced units that came back and are not credited yet.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the result and the totals of the credit notes; change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Receive units of a return; restocked units serve back-orders first."""
    good, bad = each_once("--restock", restock, "quantity"), each_once("--scrap", scrap, "quantity")
    ids = good | bad
    items = [{"id": item_id, "restock": good.get(item_id, 0), "scrap": bad.get(item_id, 0)} for item_id in ids]
    names = called(items=[f"item {item_id}" for item_id in ids])
    with reporting_errors(), named_by(names):
        receipt = read_request({"items": items, "credit": credit}, Receipt)
    letterhead = from_settings(letterhead_from)

    async def work(tx: Transaction, now: datetime) -> ReceivedReturn:
        with named_by(names):
            return await receive_and_credit(tx, number, receipt, letterhead, now)

    received = run_change(work, dry_run=dry_run)
    _print(received, as_json=as_json)
    if not as_json:
        for note in received.credit_notes:
            name, verb = ("a credit note", "would be") if dry_run else (f"credit note {note.number}", "is")
            typer.echo(f"\n{name} of invoice {note.invoice} over {in_pounds(note.cost_gross)} {verb} issued")


@app.command("close")
def close(number: Number, as_json: AsJson = False) -> None:
    """Close a return: no more of its units are expected. Once all are received and credited, it closes by itself."""

    async def work(tx: Transaction, now: datetime) -> Return:
        await close_return(tx, number, now)
        return await shown_return(tx, number)

    _print(run_change(work), as_json=as_json)


def _print(record: Return, *, as_json: bool) -> None:
    if as_json:
        show_json(record)
        return
    shown = asdict(record)
    shown.pop("credit_notes", None)
    items = [asdict(item) for item in shown.pop("items")]
    show_record(shown, as_json=False)
    typer.echo()
    columns = ("id", "sku", "quantity", "restocked", "scrapped", "credited", Prose("serial_numbers"))
    show_table(items, columns, as_json=False)
