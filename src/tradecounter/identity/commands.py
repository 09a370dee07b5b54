"""`tradecounter key` and `app`: API keys, and the OAuth applications that act for customers."""

from datetime import datetime
from typing import Annotated

import typer

from tradecounter.customers.queries.accounts import fetch_account, find_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, IdOf, until
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, one_line, show
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change
from tradecounter.edge.permissions import KEY_SCOPES
from tradecounter.identity.manage_keys import KeyRequest, create_key, end_key
from tradecounter.identity.oauth.manage_applications import (
    edit_application,
    end_application,
    register_application,
    revoke_access,
)
from tradecounter.identity.oauth.queries.applications import (
    ApplicationRecord,
    fetch_application,
    list_applications,
    whole_client_id,
)
from tradecounter.identity.queries.api_keys import KeyRecord, NewKey, list_keys

key_app = typer.Typer(no_args_is_help=True, help="API keys of customers.")


@key_app.command("add")
@takes_request(
    name=Option(default="API key"),
    scopes=Option("--scope", f"One of {', '.join(KEY_SCOPES)}; may be repeated. Default: all.", "S", read=str),
    expires_at=Option("--expires", "The last day, or a UK time. Default: never.", read=until),
    networks=Option("--network", "A network or an address that may use it; may be repeated. Default: any.", "N"),
)
def key_add(customer_id: CustomerId, request: KeyRequest, as_json: AsJson = False) -> None:
    """Create a key, which is shown only once."""

    async def work(tx: Transaction, now: datetime) -> NewKey:
        await fetch_account(tx, customer_id)
        return await create_key(tx, customer_id, request, now)

    added = run_change(work)
    show(added, f"key {added.id}: {added.key}\nStore it now: it is not shown again.", as_json=as_json)


@key_app.command("list")
@lists_records(
    ("id", Prose("name"), "prefix", "scopes", "networks", "expires_at", "last_used_at", "disabled_at", "created_at")
)
async def key_list(tx: Transaction, customer_id: CustomerId) -> list[KeyRecord]:
    """List a customer's keys, including disabled ones."""
    await fetch_account(tx, customer_id)
    return await list_keys(tx, customer_id)


@key_app.command("disable")
def key_disable(
    key_id: Annotated[int, IdOf("KEY_ID", "The key's id, from `key list`.")], as_json: AsJson = False
) -> None:
    """Disable a key, in every process within five seconds."""

    async def work(tx: Transaction, now: datetime) -> tuple[KeyRecord, Account | None]:
        key = await end_key(tx, key_id, now)
        return key, await find_account(tx, key.customer_id)

    key, account = run_change(work)
    owner = "" if account is None else account.name
    shown = {"id": key_id, "disabled": True, "name": key.name, "customer_id": key.customer_id, "customer": owner}
    text = f"key {key_id} ({one_line(key.name)}) of customer {key.customer_id} ({one_line(owner)}) is disabled"
    show(shown, text, as_json=as_json)


application_app = typer.Typer(no_args_is_help=True, help="Applications that act for customers (OAuth clients).")

ClientId = Annotated[
    str, typer.Argument(metavar="CLIENT_ID", help="The application's client id, from `app list`, or its beginning.")
]


RedirectUris = Annotated[
    list[str] | None,
    typer.Option(
        "--redirect-uri",
        metavar="URI",
        help="Where browsers go back to after the consent, exactly; can be repeated. https, or http on this machine.",
    ),
]


@application_app.command("add")
def application_add(
    name: Annotated[str, typer.Argument(help="The application's name.")],
    redirect_uri: RedirectUris = None,
    as_json: AsJson = False,
) -> None:
    """Register an application; the secret is shown only once."""
    added = run_change(lambda tx, now: register_application(tx, name, now, redirect_uri or ()))
    text = f"client id: {added.client_id}\nclient secret: {added.client_secret}\nStore it now: it is not shown again."
    show(added, text, as_json=as_json)


@application_app.command("edit")
def application_edit(
    client_id: ClientId,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="The new name.")] = None,
    redirect_uri: RedirectUris = None,
    as_json: AsJson = False,
) -> None:
    """Change an application's name, or replace all its redirect URIs."""
    if name is None and not redirect_uri:
        raise typer.BadParameter("at least one option is required")

    async def work(tx: Transaction, now: datetime) -> ApplicationRecord:
        whole_id = await whole_client_id(tx, client_id)
        return await edit_application(tx, whole_id, now, name, redirect_uri or None)

    edited = run_change(work)
    show(edited, f"application {edited.client_id} is changed", as_json=as_json)


@application_app.command("list")
@lists_records(("client_id", Prose("name"), "disabled_at", "created_at", Prose("redirect_uris", 24)))
async def application_list(tx: Transaction) -> list[ApplicationRecord]:
    """List all applications, including disabled ones."""
    return await list_applications(tx)


@application_app.command("disable")
def application_disable(client_id: ClientId, as_json: AsJson = False) -> None:
    """Disable an application and its tokens, in every process within five seconds."""

    async def work(tx: Transaction, now: datetime) -> str:
        whole_id = await whole_client_id(tx, client_id)
        await end_application(tx, whole_id, now)
        return whole_id

    whole_id = run_change(work)
    show({"client_id": whole_id, "disabled": True}, f"application {whole_id} is disabled", as_json=as_json)


@application_app.command("revoke")
def application_revoke(client_id: ClientId, customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Revoke an application's tokens and consent for one customer, in every process within five seconds."""

    async def work(tx: Transaction, now: datetime) -> tuple[str, int]:
        whole_id = await whole_client_id(tx, client_id)
        await fetch_application(tx, whole_id)
        await fetch_account(tx, customer_id)
        return whole_id, await revoke_access(tx, whole_id, customer_id, now)

    whole_id, count = run_change(work)
    text = f"{count} tokens revoked; consent given before now is no longer accepted"
    show({"client_id": whole_id, "customer_id": customer_id, "revoked": count}, text, as_json=as_json)
