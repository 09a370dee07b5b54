"""`tradecounter sandbox`: the data of a sandbox."""

from typing import Annotated

import typer

from tradecounter.edge.command_line.output import AsJson, show
from tradecounter.edge.command_line.session import fail, from_settings, run_change
from tradecounter.kit.text import plural
from tradecounter.sandbox.refresh import refresh_sandbox

app = typer.Typer(no_args_is_help=True, help="The sandbox: a second instance with a database of its own.")


@app.callback()
def sandbox() -> None:
    """The sandbox: a second instance with a database of its own."""


@app.command("refresh")
def refresh(
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="DATABASE_URL", help="The live database; by default TRADECOUNTER_SANDBOX_SOURCE."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Copy the live database's products, prices, stock, shipping and customers' terms; keys and orders stay."""
    settings = from_settings(lambda read: read)
    if not settings.sandbox:
        fail("TRADECOUNTER_SANDBOX must be true: this command changes the sandbox's database")
    url = source or settings.sandbox_source
    if url is None:
        fail("name the live database with --from or TRADECOUNTER_SANDBOX_SOURCE")
    changed = run_change(lambda tx, now: refresh_sandbox(tx, url, now))
    rows = ", ".join(f"{count} of {table}" for table, count in changed.items() if count)
    show(changed, f"{plural(sum(changed.values()), 'row')} changed{f': {rows}' if rows else ''}", as_json=as_json)
