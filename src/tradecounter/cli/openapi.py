"""`tradecounter openapi`: the interface document without a running server."""

from typing import Annotated

import typer

from tradecounter.cli.output import AsJson
from tradecounter.db.pool import Database
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings
from tradecounter.web.app import Application
from tradecounter.web.openapi import encode_document


def openapi(
    base_url: Annotated[str, typer.Option(help="The address that the document names.")] = "https://api.example",
    as_json: AsJson = False,  # noqa: ARG001 it is JSON either way
) -> None:
    """Print the interface document as JSON."""
    application = Application(Settings(), Database("postgresql://"), SystemClock())
    typer.echo(encode_document(application.document(base_url)).json.decode())
