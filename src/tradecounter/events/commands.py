"""`tradecounter event`: the event log."""

from typing import Annotated

import typer

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import LARGEST_ID, Customer, Limit, one_of
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, Prose
from tradecounter.events.queries import EventQuery, read_events
from tradecounter.events.record import ALL_TYPES
from tradecounter.events.wire import Event, event_on_the_wire

app = typer.Typer(no_args_is_help=True, help="The event log, which programs of customers and of the reseller read.")

_COLUMNS = ("sequence", "occurred_at", "type", "subject", "customer_id", Prose("data", 30), "id")


@app.callback()
def event() -> None:
    """Keep `list` a subcommand while it is the only one."""


@app.command("list")
@lists_records(_COLUMNS)
async def event_list(
    tx: Transaction,
    after: Annotated[
        int, typer.Option("--after", min=0, max=LARGEST_ID, metavar="N", help="Only events after this sequence.")
    ] = 0,
    type_: Annotated[
        list[str] | None,
        typer.Option(
            "--type", parser=one_of(sorted(ALL_TYPES)), metavar="T", help="Only events of this type; may be repeated."
        ),
    ] = None,
    customer: Customer = None,
    limit: Limit = LISTED,
) -> list[Event]:
    """List events, oldest first. With --customer, only those that the customer can read."""
    customer_id = None if customer is None else (await fetch_account(tx, customer)).id
    wanted = EventQuery(after=after, limit=limit, customer_id=customer_id, types=tuple(type_ or ()) or None)
    return [event_on_the_wire(record) for record in (await read_events(tx, wanted)).events]
