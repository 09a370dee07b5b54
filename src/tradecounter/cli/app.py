"""`tradecounter app`: OAuth applications that act for customers."""

from typing import Annotated

import typer

from tradecounter.cli.arguments import CustomerId
from tradecounter.cli.output import AsJson, show, show_json, show_table
from tradecounter.cli.session import with_database
from tradecounter.cli.tables import ColumnNames, Prose
from tradecounter.customers.accounts import the_account
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.identity.oauth.access_tokens import revoke_tokens
from tradecounter.identity.oauth.applications import (
    ApplicationRecord,
    NewApplication,
    add_application,
    application_exists,
    disable_application,
    list_applications,
    whole_client_id,
)
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import DomainError, Kind

app = typer.Typer(no_args_is_help=True, help="Applications that act for customers (OAuth clients).")

ClientId = Annotated[
    str, typer.Argument(metavar="CLIENT_ID", help="The application's client id, from `app list`, or its beginning.")
]


@app.command("add")
def add(name: Annotated[str, typer.Argument(help="What the application is called.")], as_json: AsJson = False) -> None:
    """Register an application; its secret is shown this once."""

    async def work(database: Database) -> NewApplication:
        async with transaction(database) as tx:
            return await add_application(tx, name, SystemClock().now())

    made = with_database(work)
    text = (
        f"client id: {made.client_id}\nclient secret: {made.client_secret}\nKeep the secret now: it is not shown again."
    )
    show(made, text, as_json=as_json)


@app.command("list")
def show_all(columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List applications, disabled ones included."""

    async def work(database: Database) -> list[ApplicationRecord]:
        async with reading(database) as tx:
            return await list_applications(tx)

    shown = ("client_id", Prose("name"), "disabled_at", "created_at")
    show_table(with_database(work), shown, as_json=as_json, names=columns)


@app.command("disable")
def disable(client_id: ClientId, as_json: AsJson = False) -> None:
    """Disable an application and its tokens, in every process within five seconds."""

    async def work(database: Database) -> str:
        async with transaction(database) as tx:
            whole_id = await whole_client_id(tx, client_id)
            if not await disable_application(tx, whole_id, SystemClock().now()):
                raise _unknown(client_id)
            return whole_id

    whole_id = with_database(work)
    if as_json:
        show_json({"client_id": whole_id, "disabled": True})
    else:
        typer.echo(f"application {whole_id} is disabled")


@app.command("revoke")
def revoke(
    client_id: ClientId,
    customer_id: CustomerId,
    as_json: AsJson = False,
) -> None:
    """Revoke an application's tokens and consent for one customer, in every process within five seconds."""

    async def work(database: Database) -> tuple[str, int]:
        async with transaction(database) as tx:
            whole_id = await whole_client_id(tx, client_id)
            if not await application_exists(tx, whole_id):
                raise _unknown(client_id)
            await the_account(tx, customer_id)
            return whole_id, await revoke_tokens(tx, whole_id, customer_id, SystemClock().now())

    whole_id, count = with_database(work)
    if as_json:
        show_json({"client_id": whole_id, "customer_id": customer_id, "revoked": count})
    else:
        typer.echo(f"{count} tokens revoked; subject tokens issued before now are refused")


def _unknown(client_id: str) -> DomainError:
    return DomainError(Kind.NOT_FOUND, f"there is no application {client_id}")
