"""`tradecounter openapi`: prints the interface document or an API client collection; needs no server."""

import json
from typing import Annotated

import typer

from tradecounter.db.pool import Database
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.openapi.document import encode_document
from tradecounter.edge.openapi.postman import postman_collection
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings
from tradecounter.sites.public import Application


def openapi(
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="The server's URL in the document.")
    ] = "https://api.example",
    postman: Annotated[
        bool, typer.Option("--postman", help="Print a collection for Postman and Bruno instead.")
    ] = False,
    as_json: AsJson = False,  # noqa: ARG001 the output is always JSON
) -> None:
    """Print the interface document as JSON."""
    application = Application(Settings(), Database("postgresql://"), SystemClock())
    document = application.document(base_url)
    if postman:
        typer.echo(json.dumps(postman_collection(document), indent=2, ensure_ascii=False))
    else:
        typer.echo(encode_document(document).decode())
