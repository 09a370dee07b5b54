"""`tradecounter issuer`: the keys that sign customers' consent to applications."""

import typer

from tradecounter.consent.issuer import issuer_vault, rotate_key
from tradecounter.edge.command_line.output import AsJson, show
from tradecounter.edge.command_line.session import run_change
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="The issuer of consent: the keys that sign customers' consent.")


@app.callback()
def issuer() -> None:
    """Make `rotate` a subcommand although it is the only one."""


@app.command("rotate")
def rotate(as_json: AsJson = False) -> None:
    """Sign with a new key from now on; the old one stays public for a quarter of an hour."""
    vault = issuer_vault(lambda: secret_keys(read_settings()))
    kid = run_change(lambda tx, now: rotate_key(tx, vault, now))
    show({"kid": kid}, f"consent is signed with the new key {kid}", as_json=as_json)
