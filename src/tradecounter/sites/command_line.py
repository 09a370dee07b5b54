"""`tradecounter`: the command line.

A command's module is imported when the command is called, so that quick commands start fast.
"""

import importlib
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version as installed_version
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from tradecounter.edge.command_line.typer_internals import CompletionItem, IntParamType, IntRange, NoSuchOption
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.kit.tasks import collector_paused
from tradecounter.settings import SettingsError, unknown_settings

# By name: the function of a command, or what declares the verbs of a noun, in the order of its help. One part has help.
COMMANDS: Mapping[str, str | tuple[str, ...]] = {
    "init": "tradecounter.installation.init:init",
    "demo": "tradecounter.sites.commands.demo:demo",
    "serve": "tradecounter.sites.commands.serve:serve",
    "backoffice": "tradecounter.sites.commands.backoffice:backoffice",
    "worker": "tradecounter.sites.commands.worker:worker",
    "db": "tradecounter.installation.database:app",
    "import": "tradecounter.imports.commands:import_file",
    "imports": "tradecounter.imports.commands:app",
    "customer": (
        "tradecounter.customers.commands:editing",
        "tradecounter.privacy.commands:customer",
        "tradecounter.customer_notes.commands:customer",
        "tradecounter.customers.commands:app",
    ),
    "key": "tradecounter.identity.commands:key_app",
    "app": "tradecounter.identity.commands:application_app",
    "agent": "tradecounter.agents.commands:app",
    "issuer": "tradecounter.consent.commands:app",
    "user": "tradecounter.access.commands:user_app",
    "staff": "tradecounter.access.commands:staff_app",
    "token": "tradecounter.access.commands:token_app",
    "product": "tradecounter.products.commands:app",
    "price": "tradecounter.prices.commands:app",
    "stock": "tradecounter.stock.commands:app",
    "order": (
        "tradecounter.orders.commands.show:listing",
        "tradecounter.orders.commands.show:app",
        "tradecounter.orders.commands.change:creation",
        "tradecounter.shipments.commands:order",
        "tradecounter.orders.commands.change:app",
        "tradecounter.returns.commands:order",
        "tradecounter.billing.commands:order",
    ),
    "return": "tradecounter.returns.commands:app",
    "request": "tradecounter.customer_requests.commands:app",
    "approval": "tradecounter.approvals.commands:app",
    "quote": "tradecounter.quotes.commands:app",
    "secret": "tradecounter.installation.secret:app",
    "invoice": "tradecounter.billing.commands:app",
    "webhook": "tradecounter.webhooks.commands:app",
    "event": "tradecounter.events.commands:app",
    "audit": "tradecounter.audit.commands:audit",
    "job": "tradecounter.jobs.commands:app",
    "credit-note": "tradecounter.credit_notes.commands:app",
    "payment": "tradecounter.payments.commands:app",
    "statement": "tradecounter.billing.commands:statement",
    "debtors": "tradecounter.billing.commands:debtors",
    "vat": "tradecounter.billing.commands:vat",
    "remind": "tradecounter.billing.commands:remind",
    "sandbox": "tradecounter.sandbox.commands:app",
    "settings": "tradecounter.installation.show_settings:show_settings",
    "doctor": "tradecounter.installation.doctor:doctor",
    "openapi": "tradecounter.sites.commands.openapi:openapi",
}
SERVICES = {"serve", "backoffice", "worker"}  # log warnings that other commands print


class _CommandGroup(TyperGroup):
    # The library truncates descriptions after one line.
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _description(command)) for name, command in commands if command is not None])


def _description(command: Any) -> str:
    """Return the first paragraph of a command's help, on one line."""
    return " ".join((command.help or "").partition("\n\n")[0].split())


class _Commands(_CommandGroup):
    """The commands of `COMMANDS`, loaded on demand."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # only names, for lists and suggestions

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _load(cmd_name) if cmd_name in COMMANDS else None

    def invoke(self, ctx: Any) -> Any:
        # The library suggests similar names for an unknown command, but not for an unknown option.
        try:
            return super().invoke(ctx)
        except NoSuchOption as error:
            if error.possibilities:
                error.message += f". Did you mean {', '.join(map(repr, error.possibilities))}?"
                error.possibilities = None
            raise

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        # Without the commands' help, which would load all commands.
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name) for name in COMMANDS if name.startswith(incomplete)]


def command_named(name: str) -> Any:
    """Return the function of a command, or the Typer with all verbs of a noun."""
    places = COMMANDS[name]
    if isinstance(places, str):
        return _at(places)
    parts = [_at(place) for place in places]
    [words] = [part.info.help for part in parts if isinstance(part.info.help, str)]
    noun = typer.Typer(no_args_is_help=True, help=words)
    noun.registered_commands = [command for part in parts for command in part.registered_commands]
    return noun


def _at(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _load(name: str) -> Any:
    with collector_paused():
        declared = command_named(name)
    if isinstance(declared, typer.Typer):
        declared.info.cls = _CommandGroup
        declared.rich_markup_mode = None
        command: Any = get_group(declared)
    else:
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name)(declared)
        command = get_command(single)
    command.name = name
    return _with_whole_numbers(command)


class _WholeNumber(IntRange):
    """A whole number between two bounds, read as at all other doors: the library would accept `1_0`.

    It may have a sign where negative numbers are allowed.
    """

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the number in a text; numbers, such as defaults, stay as they are."""
        if isinstance(value, str):
            try:
                value = read_count(value, signed=self.min is None or self.min < 0)
            except UnreadableNumberError as error:
                self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


def _with_whole_numbers(command: Any) -> Any:
    """Return a command whose whole numbers, and those of its subcommands, are read by `_WholeNumber`."""
    for param in command.params:
        if isinstance(param.type, IntParamType):
            param.type = _WholeNumber(min=getattr(param.type, "min", None), max=getattr(param.type, "max", None))
    for inner in getattr(command, "commands", {}).values():
        _with_whole_numbers(inner)
    return command


app = typer.Typer(
    cls=_Commands,
    name="tradecounter",
    no_args_is_help=True,
    rich_markup_mode=None,  # panels would truncate option names on a terminal with 80 columns
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tradecounter {installed_version('tradecounter')}")
        raise typer.Exit


@app.callback()
def program(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 the callback prints it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The ordering API of a telecoms-hardware reseller."""
    if context.invoked_subcommand not in SERVICES:
        _warn_of_unknown_settings()


def _warn_of_unknown_settings() -> None:
    with suppress(SettingsError):  # commands that need the settings report it
        for name, nearest in unknown_settings():
            hint = "" if nearest is None else f"; did you mean {nearest}?"
            typer.echo(f"warning: {name} is not a setting{hint}", err=True)


def run() -> None:
    """Run the command line."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # SIGHUP: the terminal was closed
        signal.signal(number, _terminated)
    try:
        "".join(sys.argv).encode()
    except UnicodeEncodeError:
        typer.echo("error: the command line is not UTF-8 text", err=True)
        sys.exit(2)
    app()


def _terminated(number: int, _frame: FrameType | None) -> None:
    # An exception, so that the command stops all services that it started.
    sys.exit(128 + number)
