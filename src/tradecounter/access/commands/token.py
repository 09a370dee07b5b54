"""`tradecounter token`: service tokens, with which programs call the back office."""

from datetime import datetime
from typing import Annotated

import typer

from tradecounter.access.queries.tokens import list_tokens
from tradecounter.access.tokens import add_token, revoke_token
from tradecounter.edge.command_line.arguments import IdOf, until
from tradecounter.edge.command_line.output import AsJson, show, show_table
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose
from tradecounter.edge.permissions import SCOPES
from tradecounter.kit.clock import SystemClock

app = typer.Typer(no_args_is_help=True, help="Service tokens, with which programs call the back office.")


@app.command("add")
def add(
    name: Annotated[str, typer.Option(metavar="TEXT", help="The program that uses it.")],
    scopes: Annotated[
        list[str],
        typer.Option("--scope", metavar="S", help=f"One of {', '.join(SCOPES)}; may be repeated. Write includes read."),
    ],
    expires: Annotated[
        datetime | None, typer.Option(parser=until, metavar="D", help="The last day, or a UK time. Default: never.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a service token; it is shown only once."""
    added, token = run_change(lambda tx: add_token(tx, name, scopes, SystemClock().now(), expires))
    text = f"token {added.id}: {token}\nStore it now: it is not shown again."
    show({"id": added.id, "name": added.name, "scopes": added.scopes, "token": token}, text, as_json=as_json)


@app.command("list")
def show_all(columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List service tokens, revoked ones included."""
    shown = ("id", Prose("name"), "prefix", "scopes", "last_used_at", "expires_at", "revoked_at", "created_at")
    show_table(run_query(list_tokens), shown, as_json=as_json, names=columns)


@app.command("revoke")
def revoke(
    token_id: Annotated[int, IdOf("ID", "The token's id, from `token list`.")],
    as_json: AsJson = False,
) -> None:
    """Revoke a service token, at once."""
    revoked = run_change(lambda tx: revoke_token(tx, token_id, SystemClock().now()))
    show({"id": token_id, "revoked": True}, f"token {token_id} ({revoked.name}) is revoked", as_json=as_json)
