"""`tradecounter`: the command line, assembled."""

import typer

from tradecounter.cli import customer, database, key, order
from tradecounter.cli.demo import demo
from tradecounter.cli.import_file import import_file
from tradecounter.cli.openapi import openapi
from tradecounter.cli.serve import serve, worker
from tradecounter.cli.show_settings import show_settings

app = typer.Typer(
    name="tradecounter",
    help="The ordering API of a telecoms-hardware reseller.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo)
app.command("serve")(serve)
app.command("worker")(worker)
app.add_typer(database.app, name="db")
app.command("import")(import_file)
app.add_typer(customer.app, name="customer")
app.add_typer(key.app, name="key")
app.add_typer(order.app, name="order")
app.command("settings")(show_settings)
app.command("openapi")(openapi)


def run() -> None:
    """Run the command line."""
    app()
