"""`tradecounter key`: API keys."""

from typing import Annotated

import typer

from tradecounter.customers.queries.accounts import fetch_account, find_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, IdOf, until
from tradecounter.edge.command_line.output import AsJson, show, show_table
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose, one_line
from tradecounter.edge.permissions import KEY_SCOPES
from tradecounter.identity.manage_keys import create_key, end_key
from tradecounter.identity.queries.api_keys import KeyRecord, NewKey, list_keys
from tradecounter.identity.requests import KeyRequest
from tradecounter.kit.clock import SystemClock

app = typer.Typer(no_args_is_help=True, help="API keys of customers.")


@app.command("add")
@takes_request(
    name=Option(default="API key"),
    scopes=Option("--scope", f"One of {', '.join(KEY_SCOPES)}; may be repeated. Default: all.", "S", read=str),
    expires_at=Option("--expires", "The last day, or a UK time. Default: never.", read=until),
    networks=Option("--network", "A network or an address that may use it; may be repeated. Default: any.", "N"),
)
def add(customer_id: CustomerId, request: KeyRequest, as_json: AsJson = False) -> None:
    """Create a key, which is shown only once."""

    async def work(tx: Transaction) -> NewKey:
        await fetch_account(tx, customer_id)
        return await create_key(tx, customer_id, request, SystemClock().now())

    added = run_change(work)
    show(added, f"key {added.id}: {added.key}\nStore it now: it is not shown again.", as_json=as_json)


@app.command("list")
def show_all(customer_id: CustomerId, columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List a customer's keys, including disabled ones."""

    async def work(tx: Transaction) -> list[KeyRecord]:
        await fetch_account(tx, customer_id)
        return await list_keys(tx, customer_id)

    shown = (
        "id",
        Prose("name"),
        "prefix",
        "scopes",
        "networks",
        "expires_at",
        "last_used_at",
        "disabled_at",
        "created_at",
    )
    show_table(run_query(work), shown, as_json=as_json, names=columns)


@app.command("disable")
def disable(key_id: Annotated[int, IdOf("KEY_ID", "The key's id, from `key list`.")], as_json: AsJson = False) -> None:
    """Disable a key, in every process within five seconds."""

    async def work(tx: Transaction) -> tuple[KeyRecord, Account | None]:
        key = await end_key(tx, key_id, SystemClock().now())
        return key, await find_account(tx, key.customer_id)

    key, account = run_change(work)
    owner = "" if account is None else account.name
    shown = {"id": key_id, "disabled": True, "name": key.name, "customer_id": key.customer_id, "customer": owner}
    text = f"key {key_id} ({one_line(key.name)}) of customer {key.customer_id} ({one_line(owner)}) is disabled"
    show(shown, text, as_json=as_json)
