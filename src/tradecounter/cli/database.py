"""`tradecounter db`: the schema."""

import typer

from tradecounter.cli.output import AsJson, show
from tradecounter.cli.session import database_url, reporting_errors, require_usable_schema
from tradecounter.db.migrate import upgrade
from tradecounter.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="The database's schema.")


@app.command("upgrade")
def run_upgrade(as_json: AsJson = False) -> None:
    """Upgrade the schema to the newest revision; creates the embedded database if it does not exist."""
    with reporting_errors(), database_url(read_settings(), create=True) as url:
        state = upgrade(url, report=lambda line: typer.echo(line, err=True))
    show({"revision": state.revision}, f"the schema is at revision {state.revision}", as_json=as_json)


@app.command("check")
def check(as_json: AsJson = False) -> None:
    """Check that this version works with the schema; exits with status 1 if not."""
    with reporting_errors(), database_url(read_settings()) as url:
        state = require_usable_schema(url)
    found = f"is newer than this version and works with it, at revision {state.revision}"
    shown = f"the schema is current, at revision {state.revision}" if state.current else f"the schema {found}"
    show({"revision": state.revision}, shown, as_json=as_json)
