"""`tradecounter app`: OAuth applications that act for customers."""

from typing import Annotated

import typer

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId
from tradecounter.edge.command_line.output import AsJson, show, show_table
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose
from tradecounter.identity.oauth.manage_applications import (
    edit_application,
    end_application,
    fetch_application,
    register_application,
    revoke_access,
)
from tradecounter.identity.oauth.queries.applications import ApplicationRecord, list_applications, whole_client_id
from tradecounter.kit.clock import SystemClock

app = typer.Typer(no_args_is_help=True, help="Applications that act for customers (OAuth clients).")

ClientId = Annotated[
    str,
    typer.Argument(metavar="CLIENT_ID", help="The application's client id, from `app list`, or its beginning."),
]


RedirectUris = Annotated[
    list[str] | None,
    typer.Option(
        "--redirect-uri",
        metavar="URI",
        help="Where browsers go back to after the consent, exactly; can be repeated. https, or http on this machine.",
    ),
]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="The application's name.")],
    redirect_uri: RedirectUris = None,
    as_json: AsJson = False,
) -> None:
    """Register an application; the secret is shown only once."""
    added = run_change(lambda tx: register_application(tx, name, SystemClock().now(), redirect_uri or ()))
    text = f"client id: {added.client_id}\nclient secret: {added.client_secret}\nStore it now: it is not shown again."
    show(added, text, as_json=as_json)


@app.command("edit")
def edit(
    client_id: ClientId,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="The new name.")] = None,
    redirect_uri: RedirectUris = None,
    as_json: AsJson = False,
) -> None:
    """Change an application's name, or replace all its redirect URIs."""

    async def work(tx: Transaction) -> ApplicationRecord:
        whole_id = await whole_client_id(tx, client_id)
        return await edit_application(tx, whole_id, SystemClock().now(), name, redirect_uri or None)

    edited = run_change(work)
    show(edited, f"application {edited.client_id} is changed", as_json=as_json)


@app.command("list")
def show_all(columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List all applications, including disabled ones."""
    shown = ("client_id", Prose("name"), "disabled_at", "created_at", Prose("redirect_uris", 24))
    show_table(run_query(list_applications), shown, as_json=as_json, names=columns)


@app.command("disable")
def disable(client_id: ClientId, as_json: AsJson = False) -> None:
    """Disable an application and its tokens, in every process within five seconds."""

    async def work(tx: Transaction) -> str:
        whole_id = await whole_client_id(tx, client_id)
        await end_application(tx, whole_id, SystemClock().now())
        return whole_id

    whole_id = run_change(work)
    show({"client_id": whole_id, "disabled": True}, f"application {whole_id} is disabled", as_json=as_json)


@app.command("revoke")
def revoke(client_id: ClientId, customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Revoke an application's tokens and consent for one customer, in every process within five seconds."""

    async def work(tx: Transaction) -> tuple[str, int]:
        whole_id = await whole_client_id(tx, client_id)
        await fetch_application(tx, whole_id)
        await fetch_account(tx, customer_id)
        return whole_id, await revoke_access(tx, whole_id, customer_id, SystemClock().now())

    whole_id, count = run_change(work)
    text = f"{count} tokens revoked; consent given before now is no longer accepted"
    show({"client_id": whole_id, "customer_id": customer_id, "revoked": count}, text, as_json=as_json)
