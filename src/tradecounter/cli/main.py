"""`tradecounter`: the command line, assembled.

A command's module is imported when the command is called, so that the quick ones do not wait for what the rest needs.
"""

import importlib
import signal
import sys
from importlib.metadata import version as installed_version
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

COMMANDS = {
    "demo": "tradecounter.cli.demo:demo",
    "serve": "tradecounter.cli.serve:serve",
    "worker": "tradecounter.cli.serve:worker",
    "db": "tradecounter.cli.database:app",
    "import": "tradecounter.cli.import_file:import_file",
    "customer": "tradecounter.cli.customer:app",
    "key": "tradecounter.cli.key:app",
    "app": "tradecounter.cli.app:app",
    "order": "tradecounter.cli.order:app",
    "quote": "tradecounter.cli.quote:app",
    "secret": "tradecounter.cli.secret:app",
    "settings": "tradecounter.cli.show_settings:show_settings",
    "openapi": "tradecounter.cli.openapi:openapi",
}


class _Commands(TyperGroup):
    """The commands of `COMMANDS`, each loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None."""
        return _load(cmd_name, COMMANDS[cmd_name]) if cmd_name in COMMANDS else None


def _load(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if isinstance(found, typer.Typer):
        command: Any = get_group(found)
    else:
        alone = typer.Typer(add_completion=False)
        alone.command(name)(found)
        command = get_command(alone)
    command.name = name
    return command


app = typer.Typer(
    cls=_Commands,
    name="tradecounter",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tradecounter {installed_version('tradecounter')}")
        raise typer.Exit


@app.callback()
def program(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The ordering API of a telecoms-hardware reseller."""


def run() -> None:
    """Run the command line."""
    for ending in (signal.SIGTERM, signal.SIGHUP):  # the latter when the terminal is closed
        signal.signal(ending, _terminated)
    if not all(map(_is_text, sys.argv)):
        typer.echo("error: the command line is not UTF-8 text", err=True)
        sys.exit(2)
    app()


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _terminated(number: int, _frame: FrameType | None) -> None:
    # Ends like an exception, so that what the command started is stopped too.
    sys.exit(128 + number)
